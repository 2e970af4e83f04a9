import fc from 'fast-check';
import { StreamCheck } from '#libs/testing/interface/stream-check.js';
import { LEAVER, NEWCOMER, ORIGINATOR, QUOTER } from './accounts.js';
import { grantedWithout } from './given-tokens.js';
import { HUNG_UP, UNDOCUMENTED, type Judge } from './judge.js';
import { HostileMessages } from './messages.js';
import { mixed, sampled } from './requests.js';
import type { StillnessRun, Stillness } from './stillness.js';
import { muteIn, reachedIn, refusalsIn, talk, typeOf, type Frame, type Talk } from './stream-talk.js';
import type { FuzzTarget } from './target.js';
import { PATIENCE_MS } from './wire.js';

/** Close codes of outages and errors, which do not occur in this run. */
const OF_OUTAGES: ReadonlySet<number> = new Set([1011, 4503]);
/** The code of a stream that ended without a close frame. */
const CUT_OFF = 1006;
const REPLIES_WITHIN_MS = 1_000;
const MUTE = `a stream goes on without an answer within ${PATIENCE_MS} ms, and when it is said alone: `;
const SHOWN = { frame: 300, stream: 1_500 };

/** Streams that break the protocol. */
export class Streams {
  /** The number of frames sent. */
  frames = 0;
  /** The latest stream, as it was sent. */
  latest = 'stream';
  private readonly messages: HostileMessages;
  private played = 0;

  constructor(
    private readonly target: FuzzTarget,
    private readonly judge: Judge,
    private readonly stillness: Pick<Stillness, 'hold'>,
    private readonly seed: number,
    private readonly check = new StreamCheck(target.stream),
  ) {
    this.messages = new HostileMessages(target, seed);
  }

  /** Plays one stream. Refused frames that were sent together with accepted ones are sent again. */
  play(): Promise<boolean> {
    const { target, messages } = this;
    // This account's session may end at any time, so its token is not used.
    const names = [...target.tokens.keys()].filter((name) => name !== LEAVER);
    this.played += 1;
    const seed = mixed(~this.seed, this.played);
    // Most commands are a maker's.
    const member = sampled(fc.constantFrom(QUOTER, QUOTER, NEWCOMER, ORIGINATOR, ORIGINATOR, ...names), seed);
    const port = sampled(fc.constantFrom(...target.ports), seed);
    let isFirst = true;
    return this.stillness.hold(messages.draw(member), (frames) => {
      const said = isFirst ? frames : messages.again(frames);
      isFirst = false;
      return this.playOnce(said, member, `ws://127.0.0.1:${port}${target.stream.channels.stream.address}`);
    });
  }

  private async playOnce(
    frames: readonly Frame[],
    member: string,
    url: string,
  ): Promise<StillnessRun<Frame>> {
    const { target, judge, messages } = this;
    const token = target.tokens.get(member) ?? '';
    const how = `stream: ${frames.map(wordOf).join(' | ').slice(0, SHOWN.stream)}`;
    this.latest = how;
    const told = await talk(url, token, frames, REPLIES_WITHIN_MS);
    if (told === undefined) {
      judge.add('a good handshake is refused', how);
      return { isRefused: true, refused: [], how };
    }
    this.frames += told.said.length;
    this.note(told, how);
    for (const granted of grantedWithout(told, member, target)) judge.add(granted, how);
    for (const type of reachedIn(told)) judge.reached.add(type);
    const first = this.suspicion(told);
    if (first === undefined || judge.knows(first)) return { ...refusalsIn(told), how };
    const again = await talk(url, token, messages.again(frames), PATIENCE_MS);
    const second = again === undefined ? first : this.suspicion(again);
    if (second !== undefined) judge.add(second, how);
    return { ...refusalsIn(told), isRefused: false, how };
  }

  /** A violation if it happens again with full patience. */
  private suspicion(told: Talk): string | undefined {
    const { code, said, millis } = told;
    // All that was sent were at least frames.
    if (code === CUT_OFF && said.every(({ form }) => form !== 'raw')) return `${HUNG_UP}stream`;
    const [mute] = muteIn(told);
    if (mute !== undefined) return `${MUTE}${typeOf(mute) ?? ''}`;
    return this.judge.slowness(millis);
  }

  /** Whatever it was sent, the stream goes on or ends, and its messages are as documented. */
  private note({ heard, code }: Talk, how: string): void {
    const { judge } = this;
    judge.count(code === undefined ? 'stream goes on' : `stream closed ${code}`);
    if (code !== undefined && OF_OUTAGES.has(code)) judge.add(`a stream ends with ${code}`, how);
    const frames = heard.map((text) => ({ direction: 'server' as const, text }));
    const ends = code === undefined ? [] : [{ closed: code }];
    for (const fault of this.check.faults([...frames, ...ends])) judge.add(`${UNDOCUMENTED}${fault}`, how);
  }
}

function wordOf({ form, bytes }: Frame): string {
  return form === 'raw' ? `raw ${bytes.toString('hex')}` : bytes.toString('latin1').slice(0, SHOWN.frame);
}
