import { StreamCheck } from '#libs/testing/interface/stream-check.js';
import type { Random } from '../simulator/kernel/random.js';
import { LEAVER, NEWCOMER } from './cast.js';
import { grantedWithout } from './credentials.js';
import { HostileFrames } from './hostile-frames.js';
import type { Judge } from './judge.js';
import type { Played, Stillness, Verdict } from './stillness.js';
import { muteIn, reachedIn, refusalsIn, talk, typeOf, type Frame, type Talk } from './stream-talk.js';
import type { Target } from './target.js';
import { PATIENCE_MS } from './wire.js';

/** Whose quotes there are comes more often: others can take away nothing. */
const MAKERS = 0.5;
/** Who has quotes, and who has none. */
const MAKER_NAMES = ['maker-1', NEWCOMER];
const ORIGINATORS = 0.4;
const ORIGINATOR = 'originator-2';
/** The service away, or at fault: in this run nothing is. */
const OF_OUTAGES: ReadonlySet<number> = new Set([1011, 4503]);

/** What a stream is closed with that is cut off without a word. */
const CUT_OFF = 1006;

/** Streams of people who do not keep to the protocol. */
export class HostileStreams {
  /** So many were said. */
  frames = 0;
  /** What was said last. */
  latest = 'stream';
  private readonly drawn: HostileFrames;
  private readonly check: StreamCheck;

  constructor(
    private readonly target: Target,
    private readonly judge: Judge,
    private readonly stillness: Stillness,
    private readonly random: Random,
  ) {
    this.drawn = new HostileFrames(target, random.fork('frames'));
    this.check = new StreamCheck(target.stream);
  }

  /** One stream; what of it is refused, or not answered, is said again on others. */
  play(): Promise<Verdict> {
    const { random, target, drawn } = this;
    // Whose sessions are ended may have none at this moment.
    const names = [...target.tokens.keys()].filter((name) => name !== LEAVER);
    const other = random.chance(ORIGINATORS) ? ORIGINATOR : random.pick(names);
    const member = random.chance(MAKERS) ? random.pick(MAKER_NAMES) : other;
    let isFirst = true;
    return this.stillness.hold(drawn.draw(member), async (frames) => {
      const said = isFirst ? frames : drawn.again(frames);
      isFirst = false;
      return this.playOnce(said, member);
    });
  }

  private async playOnce(frames: readonly Frame[], member: string): Promise<Played<Frame>> {
    const { random, target, judge } = this;
    const token = target.tokens.get(member) ?? '';
    const url = `ws://127.0.0.1:${random.pick(target.ports)}/v1/stream`;
    this.latest = `stream: ${frames.map(wordOf).join(' | ').slice(0, 1_500)}`;
    const told = await talk(url, token, frames);
    if (told === undefined) {
      judge.add('a good handshake is refused', 'stream');
      return { isRefused: true, refused: [], doubtful: [], how: 'stream' };
    }
    this.frames += told.said.length;
    const how = `stream: ${told.said.map(wordOf).join(' | ').slice(0, 1_500)}`;
    this.note(told, how);
    for (const granted of grantedWithout(told, member, target)) judge.add(granted, how);
    const { refused, silent, isRefused } = refusalsIn(told);
    for (const type of reachedIn(told)) judge.reach(type);
    // A stream that was closed has not heard the rest.
    const doubtful = [...silent, ...frames.slice(told.said.length)];
    if (isHungUp(told)) {
      const again = await talk(url, token, this.drawn.again(frames));
      if (again === undefined || isHungUp(again)) judge.hungUp('stream', how);
    }
    const [mute] = muteIn(told);
    if (mute !== undefined) await this.sayAlone(mute, url, token);
    if (!judge.isSlow(told)) return { isRefused, refused, doubtful, how };
    const again = await talk(url, token, frames);
    if (again === undefined || judge.isSlow(again)) judge.slow(again?.millis ?? Infinity, how);
    return { isRefused: false, refused, doubtful, how };
  }

  /** What has no answer although the stream goes on, once more with all patience. */
  private async sayAlone(frame: Frame, url: string, token: string): Promise<void> {
    const { judge, drawn } = this;
    const type = typeOf(frame) ?? '';
    if (judge.knowsMuteness(type)) return;
    const again = await talk(url, token, drawn.again([frame]), PATIENCE_MS);
    if (again === undefined) return;
    const how = `stream: ${wordOf(frame)}`;
    if (muteIn(again).length > 0) judge.mute(type, how);
    else if (judge.isSlow({ millis: again.settledMillis })) judge.slow(again.settledMillis, how);
  }

  /** However it was spoken to, it goes on or ends; and what it has said is as documented. */
  private note({ heard, code }: Talk, how: string): void {
    const { judge } = this;
    judge.count(code === undefined ? 'stream goes on' : `stream closed ${code}`);
    if (code !== undefined && OF_OUTAGES.has(code)) judge.add(`a stream ends with ${code}`, how);
    const frames = heard.map((text) => ({ direction: 'server' as const, text }));
    const ends = code === undefined ? [] : [{ closed: code }];
    for (const fault of this.check.faults([...frames, ...ends]))
      judge.add(`not as documented: ${fault}`, how);
  }
}

/** Without a word, though everything that was said was at least a frame. */
function isHungUp({ said, code }: Talk): boolean {
  return code === CUT_OFF && said.every(({ form }) => form !== 'raw');
}

function wordOf({ form, bytes }: Frame): string {
  return form === 'raw' ? `raw ${bytes.toString('hex')}` : bytes.toString('latin1').slice(0, 300);
}
