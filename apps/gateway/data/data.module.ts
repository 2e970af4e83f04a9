import { Module, type DynamicModule } from '@nestjs/common';

/** Market data is put together by its library, for there is nothing of other services in it. */
@Module({})
export class DataModule {
  static with(): DynamicModule {
    return { module: DataModule };
  }
}
