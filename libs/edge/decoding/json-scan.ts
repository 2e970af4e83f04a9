/** `atoms`: integers from 0 to 2^53-1, written plainly. `finite`: any JSON number that a double can hold. */
export type NumberRule = 'atoms' | 'finite';

export const MAX_DEPTH = 64;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const LOWER_N = 0x6e;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export function skipWhitespace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char !== SPACE && char !== LINE_FEED && char !== CARRIAGE_RETURN && char !== TAB) break;
  }
  return at;
}

/**
 * One pass over a text for what JSON.parse lets through: null, repeated keys, depth, lone surrogates, numbers. It does not
 * check the grammar, so it may only be trusted together with JSON.parse: every fault it finds makes the first value
 * unacceptable, and where that value is acceptable it finds its end. The stack is explicit: depth costs no call frames.
 */
export class ObjectScan {
  /** One entry per open container: the keys so far of an object, undefined for an array. */
  private readonly open: (Set<string> | undefined)[] = [];
  private keyNext = false;
  private at = 0;
  private readonly escapes: boolean;

  constructor(
    private readonly text: string,
    private readonly numbers: NumberRule,
  ) {
    this.escapes = text.includes('\\');
  }

  /** Just behind the first value, or undefined when that is no object or one that must be refused. */
  end(): number | undefined {
    this.at = skipWhitespace(this.text, 0);
    if (this.text.charCodeAt(this.at) !== OPEN_BRACE) return undefined;
    while (this.at < this.text.length) {
      if (!this.step(this.text.charCodeAt(this.at))) return undefined;
      if (this.open.length === 0) return this.at;
    }
    return undefined;
  }

  /** Passes over one token; false is a fault. */
  private step(char: number): boolean {
    switch (char) {
      case QUOTE:
        return this.string();
      case OPEN_BRACE:
        return this.enter(new Set());
      case OPEN_BRACKET:
        return this.enter(undefined);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.leave(char === CLOSE_BRACE);
      case COMMA:
        this.keyNext = this.open[this.open.length - 1] !== undefined;
        break;
      case COLON:
        this.keyNext = false;
        break;
      case LOWER_N:
        return false;
      default:
        if ((char >= ZERO && char <= NINE) || char === MINUS) return this.number();
    }
    this.at += 1;
    return true;
  }

  private enter(keys: Set<string> | undefined): boolean {
    this.keyNext = keys !== undefined;
    this.at += 1;
    return this.open.push(keys) <= MAX_DEPTH;
  }

  private leave(object: boolean): boolean {
    this.at += 1;
    return (this.open.pop() !== undefined) === object;
  }

  private string(): boolean {
    const start = this.at;
    const end = this.escapes ? this.closingQuote(start) : this.text.indexOf('"', start + 1);
    if (end < 0) return false;
    this.at = end + 1;
    if (!this.escapes) return !this.keyNext || this.isNewKey(this.text.slice(start + 1, end));
    const quoted = this.text.slice(start, this.at);
    const content = quoted.includes('\\') ? unescaped(quoted) : quoted.slice(1, -1);
    return content !== undefined && (!this.keyNext || this.isNewKey(content));
  }

  /** In a text that has backslashes somewhere, where not every quote closes. */
  private closingQuote(start: number): number {
    for (let at = start + 1; at < this.text.length; at += 1) {
      const char = this.text.charCodeAt(at);
      if (char === QUOTE) return at;
      if (char === BACKSLASH) at += 1;
    }
    return -1;
  }

  private isNewKey(key: string): boolean {
    const keys = this.open[this.open.length - 1];
    if (keys === undefined) return true;
    const before = keys.size;
    return keys.add(key).size > before;
  }

  private number(): boolean {
    const start = this.at;
    while (isNumberChar(this.text.charCodeAt(this.at))) this.at += 1;
    const token = this.text.slice(start, this.at);
    if (this.numbers === 'finite') return Number.isFinite(Number(token));
    for (let index = 0; index < token.length; index += 1) {
      const char = token.charCodeAt(index);
      if (char < ZERO || char > NINE) return false;
    }
    return Number(token) <= Number.MAX_SAFE_INTEGER;
  }
}

function isNumberChar(char: number): boolean {
  return (
    (char >= ZERO && char <= NINE) ||
    char === DOT ||
    char === LOWER_E ||
    char === UPPER_E ||
    char === PLUS ||
    char === MINUS
  );
}

/** What a quoted string stands for; undefined when its escapes are broken or leave half a character. */
function unescaped(quoted: string): string | undefined {
  try {
    const content: unknown = JSON.parse(quoted);
    return typeof content === 'string' && content.isWellFormed() ? content : undefined;
  } catch {
    return undefined;
  }
}
