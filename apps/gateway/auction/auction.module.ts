import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import type { Pool } from 'pg';
import { MakerGroups } from '#libs/auction/admission/policy/maker-groups.js';
import { MakerProtection } from '#libs/auction/admission/policy/maker-protection.js';
import { endpointSpecsOf } from '#libs/edge/endpoint-decorator.js';
import { CompletedReader } from '#libs/auction/projections/completed-reader.js';
import { AccountController } from '#libs/auction/api/account/account.controller.js';
import { GroupsController } from '#libs/auction/api/account/groups.controller.js';
import { AuctionPages } from '#libs/auction/api/auctions/auction-pages.js';
import { AuctionsController } from '#libs/auction/api/auctions/auctions.controller.js';
import { CompletedReads } from '#libs/auction/api/auctions/completed-reads.js';
import { TimelineStream } from '#libs/auction/api/auctions/timeline-stream.js';
import { AuditController } from '#libs/auction/api/audit/audit.controller.js';
import { DATABASE, INTERFACE, PROJECTIONS } from '#libs/auction/api/tokens.js';
import { DocumentsController } from '#libs/auction/api/documents/documents.controller.js';
import { ExecutionDocumentsController } from '#libs/execution/api/documents/documents.controller.js';
import { HealthController } from './health.controller.js';
import { AuthController } from '../identity/auth.controller.js';
import { OPERATOR_CONTROLLERS } from '#libs/auction/api/operators/operator-reads.controller.js';
import { QuotePages } from '#libs/auction/api/quotes/quote-pages.js';
import { QuotesController } from '#libs/auction/api/quotes/quotes.controller.js';
import { WithdrawAll } from '#libs/auction/api/quotes/withdraw-all.js';
import { ContractsController } from '#libs/auction/api/registry/contracts.controller.js';
import { StreamController } from '#libs/auction/api/stream/stream.controller.js';
import { StreamGateway } from '#libs/auction/api/stream/stream.controller.js';

/** The injectables whose methods answer requests. */
export const CONTROLLERS = [
  HealthController,
  AuthController,
  AuctionsController,
  QuotesController,
  AccountController,
  GroupsController,
  ContractsController,
  DocumentsController,
  ExecutionDocumentsController,
  AuditController,
  ...OPERATOR_CONTROLLERS,
  StreamController,
];

/** Takes what the process has opened as providers, and makes everything else. */
@Module({})
export class AuctionModule {
  static with(opened: readonly Provider[]): DynamicModule {
    return {
      module: AuctionModule,
      providers: [
        ...opened,
        {
          provide: CompletedReader,
          useFactory: (pool: Pool) => new CompletedReader(pool),
          inject: [PROJECTIONS],
        },
        { provide: MakerGroups, useFactory: (pool: Pool) => new MakerGroups(pool), inject: [DATABASE] },
        {
          provide: MakerProtection,
          useFactory: (pool: Pool) => new MakerProtection(pool),
          inject: [DATABASE],
        },
        { provide: INTERFACE, useFactory: () => endpointSpecsOf(CONTROLLERS) },
        CompletedReads,
        AuctionPages,
        TimelineStream,
        QuotePages,
        WithdrawAll,
        ...CONTROLLERS,
        StreamGateway,
      ],
    };
  }
}
