import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { Call, CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { ApiKeyService, MOST_API_KEYS } from '#libs/identity/api-keys/api-key-service.js';
import { apiCallerOf } from '../caller.js';
import { errorOnly, refusal } from '../refusals.js';
import { changeApiKey, createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from './account-endpoints.js';
import { issuedRecord, keyRecord, rotatedRecord } from './key-records.js';
import { Reauthentication } from './reauthentication.js';

const NO_SUCH_KEY = errorOnly(404, 'There is no such API key');
const LIMIT = refusal('API_KEY_LIMIT', `A user may have ${MOST_API_KEYS} API keys`);

type AnyCall = Pick<Call, 'principal' | 'headers' | 'remoteAddress'>;

/** Lets users manage their own API keys. Secrets are shown once, in the answer that creates them. */
@Injectable()
export class ApiKeysController {
  constructor(
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
      if (issued === undefined) return LIMIT;
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

  private async confirmed(
    { principal, headers, remoteAddress: peer = '' }: AnyCall,
    then: (user: string) => Promise<Reply>,
  ): Promise<Reply> {
    const caller = apiCallerOf(principal);
    const shown = headers?.['x-reauth'];
    const refused = await this.reauthentication.refusalOf(caller, shown?.toString(), peer);
    return refused ?? then(caller.user_id);
  }
}
