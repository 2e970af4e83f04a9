import { messagesOf, type StreamMessage } from '#libs/edge/documents/asyncapi-types.js';
import type { Random } from '../simulator/kernel/random.js';
import { SPARE } from './cast.js';
import { hostileToken } from './hostile-tokens.js';
import { mutatedBytes, mutatedJson, mutatedText } from './mutations.js';
import { pair, SchemaValues } from './schema-values.js';
import type { Frame } from './stream-talk.js';
import type { Target } from './target.js';

const FRAMES = { least: 1, most: 12 };
/** Streams that are not ended by what they say, but refused most of it. */
const READ_ON = 0.6;
const UNSPOILT = 0.35;
const SUBSCRIBED = 0.5;
const SUBSCRIBE: Frame = {
  form: 'text',
  bytes: Buffer.from(JSON.stringify({ type: 'subscribe', cmd_id: 's', channel: 'auctions' })),
};
/** It would take away what the others name, so there is one for it. */
const CANCEL = 'auction.cancel';
const OWN = 0.5;
/** How many frames ask that the stream go on with a token that nobody has signed. */
const FORGED = 0.1;
/** Of which in so many it is a good one of somebody else. */
const TAKEN = 0.3;
const REFRESH = 'auth.refresh';
const OF_QUOTES: ReadonlySet<string> = new Set(['quote.revise', 'quote.withdraw']);
const RAW = [
  '8f00',
  '83ffff',
  'c1850000000068656c6c6f',
  '81fe00',
  '8185000000',
  '89fe0100',
  '0105aaaa',
  '810568656c6c6f',
  '88028000',
];
const KEY = /"idempotency_key":"idempotency_key-\d+"/;

interface Named {
  readonly type?: string;
  readonly cmd_id?: string;
  readonly token?: string;
}

/** Draws what people say who do not keep to the protocol. */
export class HostileFrames {
  private readonly messages: readonly StreamMessage[];
  private turn = 0;
  /** How many are needed is up to the answers, what is drawn to the seed alone. */
  private readonly keys: Random;

  constructor(
    private readonly target: Target,
    private readonly random: Random,
  ) {
    this.keys = random.fork('keys');
    this.messages = messagesOf(target.stream, 'receive');
  }

  /** All that one stream says, which is this member's. */
  draw(member: string): Frame[] {
    const { random } = this;
    const count = random.between(FRAMES.least, FRAMES.most);
    if (random.chance(READ_ON))
      return [
        this.hello(),
        ...(random.chance(SUBSCRIBED) ? [SUBSCRIBE] : []),
        ...Array.from({ length: count }, (_, index) => this.refusable(member, index)),
      ];
    const frames = Array.from({ length: count }, (_, index) => this.frame(member, index));
    return random.chance(0.8) ? [this.hello(), ...frames] : frames;
  }

  /** The same once more, behind a greeting that is good: under new keys, as the old ones have their answers. */
  again(frames: readonly Frame[]): Frame[] {
    const greeting = Buffer.from(JSON.stringify({ type: 'hello', cmd_id: 'again' }));
    const renewed = frames.map(({ form, bytes }): Frame => {
      const text = bytes.toString('latin1');
      const key = `"idempotency_key":"${this.keys.uuid()}"`;
      return { form, bytes: Buffer.from(text.replace(KEY, key), 'latin1') };
    });
    return [{ form: 'text', bytes: greeting }, ...renewed];
  }

  private hello(): Frame {
    const { random, target } = this;
    const token = random.chance(0.5) ? target.resumeToken : mutatedText(target.resumeToken, random);
    const resume = random.chance(0.5) ? { resume_token: token } : {};
    return { form: 'text', bytes: Buffer.from(JSON.stringify({ type: 'hello', cmd_id: 'h', ...resume })) };
  }

  private refusable(member: string, index: number): Frame {
    if (this.random.chance(FORGED)) return this.forged(member, index);
    const isSpoilt = !this.random.chance(UNSPOILT);
    const good = this.good(member, isSpoilt ? undefined : this.next());
    const bytes = isSpoilt ? this.named(good, index) : Buffer.from(JSON.stringify(called(good, index)));
    return { form: 'text', bytes };
  }

  private forged(member: string, index: number): Frame {
    const { tokens } = this.target;
    const own = tokens.get(member) ?? '';
    const others = [...tokens.values()].filter((token) => token !== own);
    const isTaken = others.length > 0 && this.random.chance(TAKEN);
    const token = isTaken ? this.random.pick(others) : hostileToken(own, this.random);
    const said = called({ type: REFRESH, token }, index);
    return { form: 'text', bytes: Buffer.from(JSON.stringify(said)) };
  }

  /** All of them in turn: with luck alone some would never be said. */
  private next(): StreamMessage | undefined {
    this.turn += 1;
    return this.messages[this.turn % this.messages.length];
  }

  private good(member: string, message?: StreamMessage): Named {
    const { random, target } = this;
    const { known, stream, tokens } = target;
    const own = this.messages.filter(({ name }) => name.startsWith(ownOf(member)));
    const { name, payload } = message ?? random.pick(random.chance(OWN) ? own : this.messages);
    const besides = new Map<string, readonly unknown[]>([...known, ['token', [tokens.get(member)]]]);
    if (name === CANCEL) besides.set('auction_id', known.get(SPARE) ?? []);
    if (OF_QUOTES.has(name)) pair(besides, ['auction_id', 'quote_id'], random);
    return new SchemaValues(stream.components.schemas, besides, random).value(payload) as Named;
  }

  private frame(member: string, index: number): Frame {
    const { random } = this;
    if (random.chance(0.05)) return { form: 'raw', bytes: Buffer.from(random.pick(RAW), 'hex') };
    const good = this.good(member);
    const named = (): Buffer => this.named(good, index);
    const bytes = random.pick([
      () => Buffer.from(JSON.stringify(called(good, index))),
      named,
      named,
      named,
      () => (random.chance(0.3) ? mutatedJson(good, random) : named()),
      () => mutatedBytes(Buffer.from(JSON.stringify(good)), random),
      () => Buffer.from('x'.repeat(random.pick([1, 65_535, 70_000]))),
    ])();
    return { form: random.chance(0.05) ? 'binary' : 'text', bytes };
  }

  /** Spoilt in everything but what it is called, so that it is read on and can be refused. */
  private named(good: Named, index: number): Buffer {
    const { type, ...others } = good;
    const fields = Object.fromEntries(Object.entries(others).filter(([name]) => name !== 'cmd_id'));
    const name = `{"type":${JSON.stringify(type)},"cmd_id":"c${index}"`;
    const rest = mutatedJson(fields, this.random).toString();
    return Buffer.from(rest.startsWith('{"') ? `${name},${rest.slice(1)}` : `${name}}`);
  }
}

function called(good: Named, index: number): Named {
  return { ...good, cmd_id: `c${index}` };
}

/** How the commands begin that a member may give. */
function ownOf(member: string): string {
  return member.startsWith('maker') ? 'quote.' : 'auction.';
}
