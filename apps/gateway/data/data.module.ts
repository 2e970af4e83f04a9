import { Module, type DynamicModule } from '@nestjs/common';

/** The library of market data builds its own parts, because they share nothing with other services. */
@Module({})
export class DataModule {
  static with(): DynamicModule {
    return { module: DataModule };
  }
}
