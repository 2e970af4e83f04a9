import { OWNERS } from './accounts.js';
import { jsonIn, typeOf, type Frame, type Talk } from './stream-talk.js';
import type { WireRequest } from './wire.js';

type Tokens = ReadonlyMap<string, string>;

const SHOWN_IN = /^(authorization|sec-websocket-protocol)$/i;
const REFRESH = 'auth.refresh';

/** Whether a token that was given out stands somewhere in the request, to the letter. */
export function showsGivenToken({ headers }: Pick<WireRequest, 'headers'>, tokens: Tokens): boolean {
  const given = new Set(tokens.values());
  // Over streams a token may be shown in base64.
  const words = headers
    .filter(([name]) => SHOWN_IN.test(name))
    .flatMap(([, value]) => value.split(/[,\s]+|Bearer\./));
  return words.some(
    (word) => given.has(word) || given.has(Buffer.from(word, 'base64url').toString('latin1')),
  );
}

/** What a member's stream was granted for a token that the account was not given, or on what belongs to another. */
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
    ...foreign.map((frame) => `${typeOf(frame) ?? ''} of somebody else's is granted`),
    ...(isResumed && !(member === resume.owner && showsOwn)
      ? ['a stream is resumed by a token that is not its own']
      : []),
  ];
}

function isSame(shown: unknown, given: string): boolean {
  return typeof shown === 'string' && Buffer.from(shown, 'base64url').equals(Buffer.from(given, 'base64url'));
}
