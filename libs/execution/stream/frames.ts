import { characters } from '#libs/edge/decoding/decode-scalars.js';

/** A client's message: the operation, and the id of its reply. */
export interface ClientFrame {
  readonly op: string;
  readonly reqId: string;
  /** The other fields, each as JSON text. Undefined if a name occurs twice. */
  readonly members: ReadonlyMap<string, string> | undefined;
}

const MAX_ID_CHARS = 64;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Undefined if the text is not a message. Then there is no request to answer. */
export function readFrame(text: string): ClientFrame | undefined {
  const value = parsed(text);
  if (!isRecord(value)) return undefined;
  const { op, req_id: reqId } = value;
  if (typeof op !== 'string' || typeof reqId !== 'string' || !isName(reqId)) return undefined;
  const members = memberTexts(text);
  members?.delete('op');
  members?.delete('req_id');
  return { op, reqId, members };
}

function isName(id: string): boolean {
  return id !== '' && characters(id) <= MAX_ID_CHARS && !UNPRINTABLE.test(id);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const TOKEN = /\s*(?:"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/gy;

/** The fields of an object that JSON.parse accepted, each with its text. */
function memberTexts(text: string): Map<string, string> | undefined {
  const members = new Map<string, string>();
  let depth = 0;
  let name: string | undefined;
  let from = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const mark = token.trim();
    if (mark === '}' || mark === ']') depth -= 1;
    if ((depth === 1 && mark === ',') || depth === 0) {
      if (name !== undefined) {
        if (members.has(name)) return undefined;
        members.set(name, text.slice(from, index).trim());
      }
      name = undefined;
    } else if (depth === 1 && name === undefined) name = String(JSON.parse(mark));
    else if (depth === 1 && mark === ':') from = index + token.length;
    if (mark === '{' || mark === '[') depth += 1;
  }
  return members;
}

/** Whether a value read from JSON is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
