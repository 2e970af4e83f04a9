import { Inject, Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { ApiKeyService, MOST_API_KEYS } from '#libs/identity/api-keys/api-key-service.js';
import { changeApiKey, createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from './account-endpoints.js';
import { ACCOUNT_PORTS, type AccountPorts } from './account-ports.js';
import { issuedRecord, keyRecord, rotatedRecord } from './key-records.js';
import { Reauthentication } from './reauthentication.js';

const NO_SUCH_KEY = errorReply(404, 'There is no such API key');
const LIMIT = { code: 'API_KEY_LIMIT', message: `A user may have ${MOST_API_KEYS} API keys` };

type AnyCall = Parameters<AccountPorts['callOf']>[0];

/** The keys of a user, for the user itself. Secrets are shown once, in the answer that makes them. */
@Injectable()
export class ApiKeysController {
  constructor(
    @Inject(ACCOUNT_PORTS) private readonly ports: AccountPorts,
    private readonly keys: ApiKeyService,
    private readonly reauthentication: Reauthentication,
  ) {}

  @Endpoint(listApiKeys)
  list(call: CallOf<typeof listApiKeys>): Promise<Reply> {
    return this.confirmed(call, async (user) => {
      const rows = await this.keys.list(user);
      return { status: 200, body: { api_keys: rows.map(keyRecord) } };
    });
  }

  @Endpoint(createApiKey)
  create(call: CallOf<typeof createApiKey>): Promise<Reply> {
    return this.confirmed(call, async (user) => {
      const issued = await this.keys.create(user, call.body);
      if (issued === undefined) return this.ports.refuse(409, LIMIT);
      return { status: 201, body: issuedRecord(issued) };
    });
  }

  @Endpoint(changeApiKey)
  change(call: CallOf<typeof changeApiKey>): Promise<Reply> {
    return this.confirmed(call, async (user) => {
      const row = await this.keys.change(user, call.ids.client_id, call.body);
      return row === undefined ? NO_SUCH_KEY : { status: 200, body: keyRecord(row) };
    });
  }

  @Endpoint(revokeApiKey)
  revoke(call: CallOf<typeof revokeApiKey>): Promise<Reply> {
    return this.confirmed(call, async (user) =>
      (await this.keys.revoke(user, call.ids.client_id)) ? { status: 204 } : NO_SUCH_KEY,
    );
  }

  @Endpoint(rotateApiKey)
  rotate(call: CallOf<typeof rotateApiKey>): Promise<Reply> {
    return this.confirmed(call, async (user) => {
      const rotated = await this.keys.rotate(user, call.ids.client_id, call.body.overlap_seconds);
      return rotated === undefined ? NO_SUCH_KEY : { status: 200, body: rotatedRecord(rotated) };
    });
  }

  private async confirmed(call: AnyCall, then: (user: string) => Promise<Reply>): Promise<Reply> {
    const { caller, reauth, peer } = this.ports.callOf(call);
    return (await this.reauthentication.refusalOf(caller, reauth, peer)) ?? then(caller.user_id);
  }
}
