import { OWNERS } from './cast.js';
import { typeOf, type Frame, type Talk } from './stream-talk.js';
import type { WireRequest } from './wire.js';

const SHOWN_IN = /^(authorization|sec-websocket-protocol)$/i;
const REFRESH = 'auth.refresh';
const HELLO = 'hello';

/** What somebody was given, and by whose name. */
export interface Credentials {
  readonly tokens: ReadonlyMap<string, string>;
  readonly resumeToken: string;
  readonly resumer: string;
}

/** Whether anywhere in the request stands a token that somebody was given, to the letter. */
export function showsGivenToken(
  { headers }: Pick<WireRequest, 'headers'>,
  { tokens }: Pick<Credentials, 'tokens'>,
): boolean {
  const given = new Set(tokens.values());
  return headers.some(
    ([name, value]) =>
      SHOWN_IN.test(name) && wordsOf(value).some((word) => given.has(word) || given.has(opened(word))),
  );
}

/** What a stream was granted for a token that its account was not given, or on what is somebody else's. */
export function grantedWithout({ said, heard }: Talk, member: string, given: Credentials): string[] {
  const replies = heard.map(partsOf);
  const granted = new Set(replies.filter(({ type }) => type === 'ack').map(({ cmd_id: id }) => id));
  const isForged = (frame: Frame): boolean => {
    const { cmd_id: id, token } = partsOf(frame.bytes.toString());
    return typeOf(frame) === REFRESH && granted.has(id) && token !== given.tokens.get(member);
  };
  const foreign = said.flatMap((frame) => {
    const type = typeOf(frame) ?? '';
    const owner = OWNERS.get(type) ?? member;
    return owner !== member && granted.has(partsOf(frame.bytes.toString()).cmd_id) ? [type] : [];
  });
  const isOwn = (frame: Frame): boolean =>
    typeOf(frame) === HELLO && isSame(partsOf(frame.bytes.toString()).resume_token, given.resumeToken);
  const isResumed = replies.some(({ type, resumed }) => type === 'welcome' && resumed === true);
  const mayResume = member === given.resumer && said.some(isOwn);
  return [
    ...(said.some(isForged) ? [`${REFRESH} with a token that its account was not given is granted`] : []),
    ...foreign.map((type) => `${type} of somebody else's is granted`),
    ...(isResumed && !mayResume ? ['a stream is resumed by a token that is not its own'] : []),
  ];
}

function wordsOf(value: string): string[] {
  return value.split(/[,\s]+|Bearer\./);
}

/** Over streams a token may be shown in base64. */
function opened(word: string): string {
  return Buffer.from(word, 'base64url').toString('latin1');
}

function isSame(shown: unknown, given: string): boolean {
  return typeof shown === 'string' && Buffer.from(shown, 'base64url').equals(Buffer.from(given, 'base64url'));
}

function partsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const parts: unknown = JSON.parse(text);
    return typeof parts === 'object' && parts !== null ? { ...parts } : {};
  } catch {
    return {};
  }
}
