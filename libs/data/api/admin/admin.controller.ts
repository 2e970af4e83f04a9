import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { flagNamed, isSetTo, type FlagName, type FlagSettings } from '../../rules/flags.js';
import { isoTime } from '../../rules/times.js';
import type { FlagTable } from '../../store/flag-table.js';
import { providerNamed } from '../bodies.js';
import type { KnownFlags } from '../flags/known-flags.js';
import { microsNow } from '../moments.js';
import { refuse } from '../refusals.js';
import { dataReply } from '../replies.js';
import {
  backfillProvider,
  getFlag,
  listIngest,
  pauseProvider,
  removeFlag,
  resumeProvider,
  setFlag,
} from './admin-endpoints.js';
import type { IngestDesk } from './ingest-desk.js';

export interface DataAdminPorts {
  readonly table: FlagTable;
  readonly flags: Pick<KnownFlags, 'forget'>;
  readonly ingest: IngestDesk;
  readonly clock: Clock;
}

/** Flags and ingest control, for operators. */
@Injectable()
export class DataAdminController {
  constructor(private readonly ports: DataAdminPorts) {}

  @Endpoint(getFlag)
  async flag({ ids }: CallOf<typeof getFlag>): Promise<Reply> {
    const name = knownFlag(ids.name);
    return dataReply(shownFlag(await this.ports.table.all(), name));
  }

  @Endpoint(setFlag)
  async set({ ids, body }: CallOf<typeof setFlag>): Promise<Reply> {
    const name = knownFlag(ids.name);
    const { table, flags, clock } = this.ports;
    // PostgreSQL cannot store these characters in a text.
    const reason = body.reason?.toWellFormed().replaceAll('\0', '\ufffd') ?? null;
    const setting = {
      ...{ enabled: body.enabled, reason, updatedAt: microsNow(clock) },
    };
    await table.set(name, setting);
    flags.forget();
    return dataReply(shownFlag(new Map([[name, setting]]), name));
  }

  @Endpoint(removeFlag)
  async remove({ ids }: CallOf<typeof removeFlag>): Promise<Reply> {
    await this.ports.table.remove(knownFlag(ids.name));
    this.ports.flags.forget();
    return { status: 204 };
  }

  @Endpoint(listIngest)
  async ingest(): Promise<Reply> {
    return dataReply(await this.ports.ingest.all());
  }

  @Endpoint(pauseProvider)
  async pause({ ids }: CallOf<typeof pauseProvider>): Promise<Reply> {
    return dataReply(await this.ports.ingest.pause(providerNamed(ids.provider)));
  }

  @Endpoint(resumeProvider)
  async resume({ ids }: CallOf<typeof resumeProvider>): Promise<Reply> {
    return dataReply(await this.ports.ingest.resume(providerNamed(ids.provider)));
  }

  @Endpoint(backfillProvider)
  async backfill({ ids, body: { from, to } }: CallOf<typeof backfillProvider>): Promise<Reply> {
    const provider = providerNamed(ids.provider);
    if (to !== undefined && to <= from) throw refuse(400, 'to must be after from');
    await this.ports.ingest.backfill({ provider, from, to });
    return dataReply({ accepted: true }, { status: 202 });
  }
}

function knownFlag(raw: string): FlagName {
  const name = flagNamed(raw);
  if (name === undefined) throw refuse(404, `Flag not found: ${raw}`);
  return name;
}

function shownFlag(settings: FlagSettings, name: FlagName): object {
  const setting = settings.get(name);
  return {
    name,
    enabled: isSetTo(settings, name),
    reason: setting?.reason ?? null,
    updated_at: setting === undefined ? null : isoTime(setting.updatedAt),
  };
}
