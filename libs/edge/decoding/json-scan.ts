/** `atoms`: integers from 0 to 2^53-1, in plain digits. `raw`: any number, kept as text. */
export type NumberRule = 'atoms' | 'raw';

export interface ScanRules {
  readonly numbers: NumberRule;
  /** The outermost object is the first level. */
  readonly maxDepth: number;
  readonly nulls: 'refused' | 'absent';
}

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

/** The JSON grammar of numbers, for raw numbers, which JSON.parse does not get to see. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The text of a number, which decoders of decimals and integers read exactly. */
export class NumberToken {
  constructor(readonly text: string) {}
}

/** A number in the text, from its first character up to `end`. */
export interface ScannedNumber {
  readonly start: number;
  readonly end: number;
}

/**
 * One pass over a text for faults that JSON.parse accepts: null, repeated keys, depth, lone surrogates, numbers. It does not
 * check the grammar, so callers must also run JSON.parse. The stack is explicit, so depth costs no call frames.
 */
export class ObjectScan {
  /** Raw numbers, in the order of the text. */
  readonly found: ScannedNumber[] = [];
  /** The repeated key, if that is why the text is refused. */
  repeated: string | undefined;
  /** One entry per open container: the keys of an object so far, or undefined for an array. */
  private readonly open: (Set<string> | undefined)[] = [];
  private isKeyNext = false;
  private at = 0;
  private readonly escapes: boolean;

  constructor(
    private readonly text: string,
    private readonly rules: ScanRules,
  ) {
    this.escapes = text.includes('\\');
  }

  /** Returns the end of the first value. Undefined if that is not an object, or must be refused. */
  end(): number | undefined {
    this.at = skipWhitespace(this.text, 0);
    if (this.text.charCodeAt(this.at) !== OPEN_BRACE) return undefined;
    while (this.at < this.text.length) {
      if (!this.step(this.text.charCodeAt(this.at))) return undefined;
      if (this.open.length === 0) return this.at;
    }
    return undefined;
  }

  /** Skips one token; false means a fault. */
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
        this.isKeyNext = this.open[this.open.length - 1] !== undefined;
        break;
      case COLON:
        this.isKeyNext = false;
        break;
      case LOWER_N:
        if (this.rules.nulls === 'refused') return false;
        break;
      default:
        if ((char >= ZERO && char <= NINE) || char === MINUS) return this.number();
    }
    this.at += 1;
    return true;
  }

  private enter(keys: Set<string> | undefined): boolean {
    this.isKeyNext = keys !== undefined;
    this.at += 1;
    return this.open.push(keys) <= this.rules.maxDepth;
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
    if (!this.escapes) return !this.isKeyNext || this.isNewKey(this.text.slice(start + 1, end));
    const quoted = this.text.slice(start, this.at);
    const content = quoted.includes('\\') ? unescaped(quoted) : quoted.slice(1, -1);
    return content !== undefined && (!this.isKeyNext || this.isNewKey(content));
  }

  /** For a text with backslashes, in which not every quote closes. */
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
    const isNew = keys.add(key).size > before;
    if (!isNew) this.repeated = key;
    return isNew;
  }

  private number(): boolean {
    const start = this.at;
    while (isNumberChar(this.text.charCodeAt(this.at))) this.at += 1;
    const token = this.text.slice(start, this.at);
    if (this.rules.numbers === 'atoms') return isPlainInteger(token);
    this.found.push({ start, end: this.at });
    return NUMBER.test(token);
  }
}

function isPlainInteger(token: string): boolean {
  for (let index = 0; index < token.length; index += 1) {
    const char = token.charCodeAt(index);
    if (char < ZERO || char > NINE) return false;
  }
  return Number(token) <= Number.MAX_SAFE_INTEGER;
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

/** The content of a quoted string. Undefined if its escapes are broken or leave a lone surrogate. */
function unescaped(quoted: string): string | undefined {
  try {
    const content: unknown = JSON.parse(quoted);
    return typeof content === 'string' && content.isWellFormed() ? content : undefined;
  } catch {
    return undefined;
  }
}
