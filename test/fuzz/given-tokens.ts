import { OWNERS } from './accounts.js';
import { jsonIn, typeOf, type Frame, type Talk } from './stream-talk.js';
import type { WireRequest } from './wire.js';

type Tokens = ReadonlyMap<string, string>;

const SHOWN_IN = /^(authorization|sec-websocket-protocol)$/i;
const REFRESH = 'auth.refresh';

/** Whether the request contains, exactly, a token that was issued. */
export function showsGivenToken({ headers }: Pick<WireRequest, 'headers'>, tokens: Tokens): boolean {
  const given = new Set(tokens.values());
  // A stream may show a token in base64.
  const words = headers
    .filter(([name]) => SHOWN_IN.test(name))
    .flatMap(([, value]) => value.split(/[,\s]+|Bearer\./));
  return words.some(
    (word) => given.has(word) || given.has(Buffer.from(word, 'base64url').toString('latin1')),
  );
}

/** Successes on a member's stream for a token that its account was not given, or for another account's objects. */
export function grantedWithout(
  { said, heard }: Talk,
  member: string,
  {
    tokens,
    resume,
  }: { readonly tokens: Tokens; readonly resume: { readonly token: string; readonly owner: string } },
): string[] {
  const replies = heard.map(jsonIn);
  const granted = new Set(replies.filter(({ type }) => type === 'ack').map(({ cmd_id: id }) => id));
  const isGranted = (frame: Frame): boolean => granted.has(jsonIn(frame.bytes.toString()).cmd_id);
  const forged = said.filter(
    (frame) =>
      typeOf(frame) === REFRESH &&
      isGranted(frame) &&
      jsonIn(frame.bytes.toString()).token !== tokens.get(member),
  );
  const foreign = said.filter(
    (frame) => (OWNERS.get(typeOf(frame) ?? '') ?? member) !== member && isGranted(frame),
  );
  const isResumed = replies.some(({ type, resumed }) => type === 'welcome' && resumed === true);
  const showsOwn = said.some((frame) => isSame(jsonIn(frame.bytes.toString()).resume_token, resume.token));
  return [
    ...(forged.length > 0 ? [`${REFRESH} with a token that its account was not given is granted`] : []),
    ...foreign.map((frame) => `${typeOf(frame) ?? ''} of another account's is granted`),
    ...(isResumed && !(member === resume.owner && showsOwn)
      ? ['a stream is resumed by a token that is not its own']
      : []),
  ];
}

function isSame(shown: unknown, given: string): boolean {
  return typeof shown === 'string' && Buffer.from(shown, 'base64url').equals(Buffer.from(given, 'base64url'));
}
