import { JournalBackend, WrongBackend } from '#libs/journal/backend/journal-backend.js';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import { moveJournals } from '#libs/journal/moving/move-journals.js';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import { ConfigFault, EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { acceptRestored } from '#libs/auction/proof/accept/accept-restored.js';
import { acceptanceDocument, acceptanceLines } from '#libs/auction/proof/accept/acceptance-text.js';
import { callOf, JOURNAL, type JournalCall } from '#libs/auction/proof/call.js';
import {
  comparedDocument,
  comparedLine,
  compareShards,
  hasNoneInKafka,
  outcomeOf,
} from '#libs/auction/proof/compare.js';
import { dump, type DumpEnd } from '#libs/auction/proof/dump.js';
import { lacksOf, marksOf, refuseWithout } from '#libs/auction/proof/marks.js';
import type { Place } from '#libs/auction/proof/place.js';
import { atPlace } from './journal/at-place.js';
import { Progress } from '#libs/auction/proof/examine-shards.js';
import { verdictLines } from '#libs/auction/proof/verdict-text.js';
import { verify } from '#libs/auction/proof/verify.js';
import { refuseWhoOwnsNoTables } from './ledger/run-ledger.js';
import { program } from './program.js';
import { asToolFault } from './tool-fault.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print, printed } from '#libs/platform/terminal/standard-output.js';
import { tellFault } from '#libs/platform/terminal/tool-faults.js';
import { visible, visibleJson } from '#libs/platform/terminal/visible-text.js';

const EXIT_DAMAGED = 1;
const DUMP_CODES: Readonly<Record<DumpEnd, number>> = {
  sound: 0,
  unread: EXIT.unavailable,
  damaged: EXIT_DAMAGED,
};
const COMPARE_CODES: Readonly<Record<ReturnType<typeof outcomeOf>, number>> = {
  alike: 0,
  unread: EXIT.unavailable,
  'damaged or different': EXIT_DAMAGED,
};
const NAME = 'journal-tool';
const NO_COPY =
  'Kafka has no journal in these topics: nothing was copied there, or KAFKA_TOPIC_PREFIX is wrong';
const NO_SEALS =
  'ID_KEY is not set: without the keys of the cluster this tool cannot check that its owners wrote the awards';

export const journal = program(
  JOURNAL,
  (parsed, { environment, args }) => {
    const call = callOf(parsed, SHARDS);
    return atPlace(environment, call.family, mention, (place) => run(call, place, args));
  },
  (error) =>
    error instanceof JournalCorrupt ? new StartFault(error.message, EXIT_DAMAGED) : asToolFault(error),
);

/** Resolves with the exit code. */
async function run(call: JournalCall, place: Place, args: readonly string[]): Promise<number> {
  const shards = call.shard === undefined ? place.shards : [call.shard];
  switch (call.command) {
    case 'verify': {
      const verdict = await verify({ ...place, tell: mention }, shards, call);
      if (call.json) print(visibleJson(verdict));
      else for (const line of verdictLines(verdict)) print(visible(line));
      return verdict.sound ? 0 : verdict.damaged ? EXIT_DAMAGED : EXIT.unavailable;
    }
    case 'dump': {
      const { bareReader } = await place.store(call.store);
      const end = await dump(bareReader, shards, call.dump, printed, ({ message }) => {
        tellFault('journal', args, { message });
      });
      // Only for the store in use: an old store or a copy may end earlier.
      const lacks =
        call.store === undefined && end === 'sound'
          ? await lacksOf(await marksOf(place.pool, place.family), bareReader, shards)
          : [];
      for (const message of lacks) tellFault('journal', args, { message });
      return lacks.length > 0 ? EXIT_DAMAGED : DUMP_CODES[end];
    }
    case 'copy':
      return await copy(call, place);
    case 'compare':
      return await compare(call, place, shards);
    case 'accept-restored':
      return await accept(call, place);
  }
}

/**
 * Only the role that owns the tables may enter money. Checked first, so that the command cannot stop half
 * way.
 */
async function accept({ confirmed, json }: JournalCall, place: Place): Promise<number> {
  await refuseWhoOwnsNoTables(place.pool);
  if (place.seals === undefined) throw new ConfigFault([NO_SEALS]);
  const acceptance = await acceptRestored({ ...place, tell: mention }, confirmed);
  if (acceptance === undefined) {
    print(json ? '{"accepted":false}' : 'this database is not marked as restored: nothing to do');
    return 0;
  }
  if (json) print(visibleJson(acceptanceDocument(acceptance)));
  else for (const line of acceptanceLines(acceptance)) print(visible(line));
  const { shortfalls, objections } = acceptance;
  return shortfalls.length + objections.length === 0 ? 0 : EXIT_DAMAGED;
}

async function copy({ copy: { from, to }, json }: JournalCall, place: Place): Promise<number> {
  const progress = new Progress(place.clock, mention);
  const moved = await moveJournals({
    family: place.family,
    from: await place.store(from),
    to: await place.store(to),
    databaseUrl: place.databaseUrl,
    clock: place.clock,
    shards: place.shards,
    opener: NAME,
    check: async (reader) => {
      await refuseWithout(place.pool, place.family, reader);
    },
    tell: ({ shard, doing, done, of }) => {
      progress.tell(`shard ${shard}: ${doing}, ${done} of ${of}`);
    },
  });
  if (json) print(JSON.stringify({ from, to, shards: moved }));
  else {
    for (const { shard, records, found, hash } of moved) {
      print(`shard ${shard}: ${records} records, ${found} of them already there; head ${hash}`);
    }
    print(`the journals are now in ${to}; those in ${from} are unchanged`);
  }
  return 0;
}

async function compare({ json }: JournalCall, place: Place, shards: readonly number[]): Promise<number> {
  const [postgres, kafka] = [await place.store('postgres'), await place.store('kafka')];
  const progress = new Progress(place.clock, mention);
  const readers = { postgres: postgres.bareReader, kafka: kafka.bareReader };
  const compared = await compareShards(readers, shards, (shard, done) => {
    progress.tell(`shard ${shard}: ${done} compared`);
  });
  const marks = await marksOf(place.pool, place.family);
  const areKnown = marks.some(({ of }) => of === 'witness');
  if (hasNoneInKafka(compared, areKnown)) throw new WrongBackend(NO_COPY);
  const home = (await new JournalBackend(place.pool, place.family).isSettled()) ? 'kafka' : 'postgres';
  const found = outcomeOf(compared, home);
  const lacks = found === 'alike' ? await lacksOf(marks, readers[home], shards) : [];
  const outcome = lacks.length > 0 ? 'damaged or different' : found;
  if (json) {
    print(visibleJson({ alike: outcome === 'alike', shards: compared.map(comparedDocument), lacks }));
  } else {
    for (const one of compared) print(visible(comparedLine(one, home)));
    for (const lack of lacks) print(visible(`${lack}, in ${home}, where the journals are`));
  }
  return COMPARE_CODES[outcome];
}
