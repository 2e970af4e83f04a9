import fc from 'fast-check';
import { messagesOf, type StreamMessage } from '#libs/edge/documents/asyncapi-types.js';
import { mutatedBytes, mutatedJson } from './mutations.js';
import { mixed, sampled } from './requests.js';
import { SchemaArbitraries, shapeOf } from './schema-arbitrary.js';
import type { Frame } from './stream-talk.js';
import type { FuzzTarget } from './target.js';
import { forgedToken } from './tokens.js';

/** Bytes that are not frames: reserved bits and opcodes, wrong lengths, control frames that are too long or fragmented. */
const RAW = [
  ...['8f00', '83ffff', 'c1850000000068656c6c6f', '81fe00', '8185000000', '89fe0100', '0105aaaa'],
  ...['810568656c6c6f', '88028000'],
].map((hex) => Buffer.from(hex, 'hex'));
const HUGE = [1, 65_535, 70_000].map((length) => Buffer.from('x'.repeat(length)));
const KEY = /"idempotency_key":"[^"]+"/;
const FRAMES = { minLength: 4, maxLength: 12 };

const REFRESH = 'auth.refresh';

type Said = Readonly<Record<string, unknown>>;

/** Draws client messages from the AsyncAPI document; most break its rules. */
export class HostileMessages {
  private readonly messages: readonly StreamMessage[];
  private readonly values: SchemaArbitraries;
  private drawn = 0;

  constructor(
    private readonly target: Pick<FuzzTarget, 'stream' | 'tokens' | 'real' | 'resume' | 'auctionOf'>,
    private readonly seed: number,
  ) {
    this.messages = messagesOf(target.stream, 'receive');
    this.values = new SchemaArbitraries(target.stream.components.schemas, target.real);
  }

  /** All frames of one stream of this member. */
  draw(member: string): Frame[] {
    const resumption = fc.oneof(
      fc.constantFrom({}, { resume_token: this.target.resume.token }),
      mutatedBytes(Buffer.from(this.target.resume.token, 'base64url')).map((bytes) => ({
        resume_token: bytes.toString('base64url'),
      })),
    );
    const hello = resumption.map((resume) => text({ type: 'hello', cmd_id: 'h', ...resume }));
    const subscribe = text({ type: 'subscribe', cmd_id: 's', channel: 'auctions' });
    const rude = fc.array(this.rude(member), { maxLength: 3 });
    const frames = fc.array(this.polite(member), FRAMES);
    const stream = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(hello, frames).map(([first, said]) => [first, subscribe, ...said]) },
      {
        weight: 2,
        arbitrary: fc.tuple(hello, frames, rude).map(([first, said, last]) => [first, ...said, ...last]),
      },
      { weight: 1, arbitrary: rude },
    );
    return sampled(stream, this.nextSeed()).map((frame, index) => named(frame, `c${index}`));
  }

  /** The same frames after a valid greeting, with new keys, because the old ones have their answers. */
  again(frames: readonly Frame[]): Frame[] {
    const keys = fc.sample(fc.uuid(), { seed: this.nextSeed(), numRuns: frames.length });
    const renewed = frames.map(({ form, bytes }, index): Frame => {
      const said = bytes.toString('latin1').replace(KEY, `"idempotency_key":"${keys[index] ?? ''}"`);
      return { form, bytes: Buffer.from(said, 'latin1') };
    });
    return [text({ type: 'hello', cmd_id: 'again' }), ...renewed];
  }

  private nextSeed(): number {
    this.drawn += 1;
    return mixed(this.seed, this.drawn);
  }

  /** Valid, or wrong anywhere but in its name, so that the stream goes on and can refuse it. */
  private polite(member: string): fc.Arbitrary<Frame> {
    const { schemas } = this.target.stream.components;
    return this.good(member).chain(([{ payload }, said]) => {
      const { type, ...rest } = said;
      const fields = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'cmd_id'));
      const wrong = mutatedJson(fields, shapeOf(payload, schemas), schemas).map((bytes): Frame => {
        const other = bytes.toString().trim();
        const name = `{"type":${JSON.stringify(type)},"cmd_id":"c"`;
        return {
          form: 'text',
          bytes: Buffer.from(other.startsWith('{"') ? `${name},${other.slice(1)}` : `${name}}`),
        };
      });
      return fc.oneof(fc.constant(text(said)), wrong);
    });
  }

  /** Wrong anywhere, so that most of them end the stream. */
  private rude(member: string): fc.Arbitrary<Frame> {
    const { schemas } = this.target.stream.components;
    const whole = this.good(member).chain(([{ payload }, said]) => mutatedJson(said, payload, schemas));
    const form = fc.constantFrom<Frame['form']>('text', 'text', 'text', 'binary');
    return fc.oneof(
      { weight: 4, arbitrary: fc.record({ form, bytes: whole }) },
      fc.record({ form, bytes: fc.constantFrom(...HUGE) }),
      fc.constantFrom(...RAW).map((bytes): Frame => ({ form: 'raw', bytes })),
    );
  }

  private good(member: string): fc.Arbitrary<readonly [StreamMessage, Said]> {
    const { tokens, auctionOf } = this.target;
    const own = this.messages.filter(({ name }) =>
      name.startsWith(member.startsWith('maker') ? 'quote.' : 'auction.'),
    );
    const token = tokens.get(member) ?? '';
    const forged = { weight: 2, arbitrary: forgedToken(token) };
    const shown = fc.oneof(forged, fc.constantFrom(...tokens.values()), fc.constant(token));
    const withToken = this.messages.filter(({ name }) => name === REFRESH);
    return fc
      .constantFrom(...this.messages, ...own, ...own, ...withToken, ...withToken, ...withToken, ...withToken)
      .chain((message) =>
        fc
          .tuple(this.values.of(message.payload, message.name, 'message'), shown, fc.uuid(), fc.boolean())
          .map(([value, other, key, isPaired]): readonly [StreamMessage, Said] => {
            const said = { ...(value as Said) };
            if ('token' in said) said.token = other;
            if ('idempotency_key' in said) said.idempotency_key = key;
            const auction = auctionOf(String(said.quote_id));
            if (auction !== undefined && isPaired) said.auction_id = auction;
            return [message, { ...said, cmd_id: 'c' }];
          }),
      );
  }
}

function text(said: object): Frame {
  return { form: 'text', bytes: Buffer.from(JSON.stringify(said)) };
}

/** Replaces the name that all frames are drawn with by its own. */
function named({ form, bytes }: Frame, name: string): Frame {
  const said = bytes.toString('latin1').replace('"cmd_id":"c"', `"cmd_id":"${name}"`);
  return { form, bytes: Buffer.from(said, 'latin1') };
}
