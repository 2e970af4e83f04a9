import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { listContracts } from '../../admission/policy/contract-registry.js';
import { object } from '#libs/edge/decoding/decode.js';
import { text } from '#libs/edge/decoding/decode-scalars.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import { endpoint, type CallOf } from '#libs/edge/endpoint.js';
import { cursor, integerParam, optionalParam, query } from '#libs/edge/decoding/query.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { contractPage } from '../account/account-shapes.js';
import { DATABASE } from '../tokens.js';

const MAX_PAGE = 50;
/** PostgreSQL cannot even query a text with a NUL. */
const name = text({ printable: true });
const contractCursor = cursor(object({ required: { v: name, c: name, o: name } }));

export const listContractsEndpoint = endpoint({
  operationId: 'listContracts',
  method: 'GET',
  path: '/v1/contracts',
  access: 'session',
  query: query('invalid_list_page', {
    venue: optionalParam(text({ maxLength: 64, printable: true })),
    limit: integerParam(1, MAX_PAGE, MAX_PAGE),
    cursor: contractCursor.param,
  }),
  summary: 'Contracts that auctions may be made of; those of one equivalence_id settle alike',
  answers: { 200: { description: 'A page, ordered by venue, contract and outcome.', body: contractPage } },
});

/** The registry of contracts, readable by every enrolled caller. */
@Injectable()
export class ContractsController {
  constructor(@Inject(DATABASE) private readonly pool: Pool) {}

  @Endpoint(listContractsEndpoint)
  async list({ query: page }: CallOf<typeof listContractsEndpoint>): Promise<Reply> {
    const after =
      page.cursor === undefined
        ? {}
        : { after: { venue: page.cursor.v, contract_id: page.cursor.c, outcome: page.cursor.o } };
    const venue = page.venue === undefined ? {} : { venue: page.venue };
    const rows = await listContracts(this.pool, { ...venue, ...after, limit: page.limit + 1 });
    const contracts = rows.slice(0, page.limit);
    const last = contracts.at(-1);
    if (last === undefined || rows.length <= page.limit) return { status: 200, body: { contracts } };
    const next = contractCursor.encode({ v: last.venue, c: last.contract_id, o: last.outcome });
    return { status: 200, body: { contracts, next_cursor: next } };
  }
}
