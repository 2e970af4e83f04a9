import { describe, expect, it } from '@jest/globals';
import { NumberToken } from './json-scan.js';
import { parseJson, parseStrictBytes, parseStrictText, STRICT_JSON } from './strict-json.js';

const ok = 'accepted';
const bad = 'invalid-json';
const many = 'trailing-data';

function verdict(bytes: Uint8Array): string {
  const parsed = parseStrictBytes(bytes);
  return parsed.ok ? ok : parsed.fault;
}

function nested(levels: number, open: string, close: string): string {
  return `{"a":${open.repeat(levels - 1)}${close.repeat(levels - 1)}}`;
}

/** `levels` nested objects. */
function objects(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
}

const TEXTS: readonly (readonly [expected: string, text: string])[] = [
  // structure
  [ok, '{}'],
  [ok, ' \t\r\n{ } \t\r\n'],
  [ok, '{"a":1}'],
  [ok, '{"a":[]}'],
  [ok, '{"a":[[],{}]}'],
  [ok, '{"a":{"b":{"c":[1,2,3]}}}'],
  [ok, '{"":0}'],
  [ok, '{"a":"","b":""}'],
  [ok, '{"a" : true , "b" : false}'],
  [bad, ''],
  [bad, ' '],
  [bad, '\n'],
  [bad, '{'],
  [bad, '}'],
  [bad, '{"a"'],
  [bad, '{"a":'],
  [bad, '{"a":1'],
  [bad, '{"a":1,'],
  [bad, '{"a":1,}'],
  [bad, '{,}'],
  [bad, '{,"a":1}'],
  [bad, '{"a":1,,"b":2}'],
  [bad, '{"a" 1}'],
  [bad, '{"a"::1}'],
  [bad, '{"a":1 "b":2}'],
  [bad, '{"a":1;"b":2}'],
  [bad, '{a:1}'],
  [bad, "{'a':1}"],
  [bad, '{1:1}'],
  [bad, '{"a":[1,]}'],
  [bad, '{"a":[,1]}'],
  [bad, '{"a":[1 2]}'],
  [bad, '{"a":[}'],
  [bad, '{"a":{]}'],
  [bad, '{"a":[1}]'],
  [bad, '{]'],
  [bad, '{"a":[1]'],
  [bad, '{"a":["x"'],
  [bad, '{"a":["x]}'],
  [bad, '{"a":1/*c*/}'],
  [bad, '{"a":1}//c'.slice(0, 6)],
  [bad, '#{"a":1}'],
  [bad, '{"a":\f1}'],
  [bad, '{"a":\v1}'],
  [bad, '{"a":\u00a01}'],
  [bad, '\u2060{}'],
  [bad, '{"a":\u00001}'],
  [bad, '{:1}'],
  [bad, '{"a"}'],
  [bad, '{[]:1}'],
  [bad, '{{}:1}'],
  [bad, '{"a":}'],
  [bad, '{"a",1}'],
  // top level
  [bad, '[]'],
  [bad, '[1]'],
  [bad, '"a"'],
  [bad, '1'],
  [bad, 'true'],
  [bad, 'null'],
  [bad, 'nul'],
  // null in any position, other words
  [bad, '{"a":null}'],
  [bad, '{"a":[null]}'],
  [bad, '{"a":[1,{"b":null}]}'],
  [ok, '{"null":"null"}'],
  [bad, '{null:1}'],
  [bad, '{"a":NaN}'],
  [bad, '{"a":Infinity}'],
  [bad, '{"a":-Infinity}'],
  [bad, '{"a":undefined}'],
  [bad, '{"a":True}'],
  [bad, '{"a":TRUE}'],
  [bad, '{"a":tru}'],
  [bad, '{"a":truee}'],
  [bad, '{"a":fals}'],
  // repeated keys
  [bad, '{"a":1,"a":1}'],
  [bad, '{"a":1,"b":2,"a":3}'],
  [bad, '{"a":1,"\\u0061":2}'],
  [bad, '{"\\u0061":1,"a":2}'],
  [bad, '{"\\u0061":1,"\\u0061":2}'],
  [bad, '{"\\u00e9":1,"é":2}'],
  [bad, '{"\\/":1,"/":2}'],
  [bad, '{"\\n":1,"\\u000a":2}'],
  [bad, '{"\\ud83d\\ude00":1,"😀":2}'],
  [bad, '{"a":{"b":1,"b":2}}'],
  [bad, '{"a":[{"b":1,"b":2}]}'],
  [bad, '{"a":1,"b":{"c":[1,2]},"a":2}'],
  [bad, '{"a":[1],"a":[1]}'],
  [bad, '{"":1,"":2}'],
  [bad, '{"__proto__":1,"__proto__":2}'],
  [ok, '{"a":1,"A":2}'],
  [ok, '{"a":1,"a ":2}'],
  [ok, '{"\u00e9":1,"e\u0301":2}'],
  [ok, '{"a":{"a":{"a":1}}}'],
  [ok, '{"a":[{"a":1},{"a":2}]}'],
  [ok, '{"a":{"b":1},"b":{"b":1}}'],
  [ok, '{"a":["b","b"],"b":"b"}'],
  [ok, '{"__proto__":{"polluted":true},"constructor":1,"toString":2}'],
  // depth: the top object is level 1
  [ok, nested(64, '[', ']')],
  [bad, nested(65, '[', ']')],
  [ok, objects(64)],
  [bad, objects(65)],
  [bad, objects(5_000)],
  [bad, '{"a":'.repeat(100_000)],
  [bad, `{"a":${'['.repeat(500_000)}`],
  [ok, `{"a":[${'[],'.repeat(1_000)}[]]}`],
  // numbers
  [ok, '{"a":0}'],
  [ok, '{"a":9007199254740991}'],
  [ok, '{"a":[0,1,10,1000000]}'],
  [bad, '{"a":9007199254740992}'],
  [bad, '{"a":9007199254740993}'],
  [bad, '{"a":9223372036854775808}'],
  [bad, `{"a":1${'0'.repeat(400)}}`],
  [bad, '{"a":1.0}'],
  [bad, '{"a":1.5}'],
  [bad, '{"a":1e3}'],
  [bad, '{"a":1E3}'],
  [bad, '{"a":1e-3}'],
  [bad, '{"a":1e400}'],
  [bad, '{"a":0e0}'],
  [bad, '{"a":-0}'],
  [bad, '{"a":-1}'],
  [bad, '{"a":-}'],
  [bad, '{"a":+1}'],
  [bad, '{"a":01}'],
  [bad, '{"a":00}'],
  [bad, '{"a":.5}'],
  [bad, '{"a":1.}'],
  [bad, '{"a":0x10}'],
  [bad, '{"a":1_000}'],
  [bad, '{"a":1n}'],
  [bad, '{"a":１}'],
  [bad, '{"a":1 000}'],
  [ok, '{"a":"1.5","b":"-1","c":"1e3"}'],
  // strings
  [ok, '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000"}'],
  [ok, '{"a":"{[,:\\"]}"}'],
  [ok, '{"a":"\\\\"}'],
  [ok, '{"a":"é€😀\u2028\u007f"}'],
  [ok, '{"a":"\\ud83d\\ude00"}'],
  [ok, '{"a":"\\uFFFF\\ufeff"}'],
  [bad, '{"a":"\\ud83d"}'],
  [bad, '{"a":"\\ude00"}'],
  [bad, '{"a":"\\ude00\\ud83d"}'],
  [bad, '{"a":"\\ud83d\\u0041"}'],
  [bad, '{"a":"\\ud83dx\\ude00"}'],
  [bad, '{"\\ud83d":1}'],
  [ok, '{"a":"\\\\ud83d"}'],
  [bad, '{"a":"\\x41"}'],
  [bad, '{"a":"\\a"}'],
  [bad, '{"a":"\\\'"}'],
  [bad, '{"a":"\\u12"}'],
  [bad, '{"a":"\\u12g4"}'],
  [bad, '{"a":"\\U0041"}'],
  [bad, '{"a":"\\'],
  [bad, '{"a":"\\"}'],
  [bad, '{"a":"\n"}'],
  [bad, '{"a":"\t"}'],
  [bad, '{"a":"\u0000"}'],
  [bad, '{"a":"\u001f"}'],
  [bad, '{"a\n":1}'],
  [bad, '\ufeff{}'],
  [bad, '{"a":\ufeff1}'],
  // something after the value
  [many, '{}{}'],
  [many, '{} {}'],
  [many, '{}\n[]'],
  [many, '{}}'],
  [many, '{}]'],
  [many, '{},'],
  [many, '{} x'],
  [many, '{"a":1}//c'],
  [many, '{}\u0000'],
  [many, '{}\ufeff'],
  [many, '{}null'],
  [many, '{"a":1} {"a":null}'],
  [many, `{} ${'['.repeat(1_000)}`],
  // the first value is judged first
  [bad, '{"a":null} {}'],
  [bad, '{"a":1,"a":2} {}'],
  [bad, '{"a" 1} {}'],
  [bad, '{"a":01} {}'],
  [bad, '[] {}'],
];

const BYTES: readonly (readonly [expected: string, what: string, bytes: readonly number[]])[] = [
  [bad, 'a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
  [bad, 'UTF-16', [0xff, 0xfe, 0x7b, 0, 0x7d, 0]],
  [bad, 'UTF-16 without a mark', [0x7b, 0, 0x7d, 0]],
  [bad, 'a continuation byte alone', [...text('{"a":"'), 0x80, ...text('"}')]],
  [bad, 'a sequence cut off', [...text('{"a":"'), 0xe2, 0x82, ...text('"}')]],
  [bad, 'an overlong slash', [...text('{"a":"'), 0xc0, 0xaf, ...text('"}')]],
  [bad, 'a surrogate in UTF-8', [...text('{"a":"'), 0xed, 0xa0, 0xbd, ...text('"}')]],
  [bad, 'a code point past the last', [...text('{"a":"'), 0xf4, 0x90, 0x80, 0x80, ...text('"}')]],
  [bad, 'Latin-1', [...text('{"a":"'), 0xe9, ...text('"}')]],
  [bad, 'bad UTF-8 after the value', [...text('{}'), 0xff]],
  [ok, 'four bytes for one character', [...text('{"a":"'), 0xf0, 0x9f, 0x98, 0x80, ...text('"}')]],
];

function text(ascii: string): number[] {
  return [...Buffer.from(ascii, 'latin1')];
}

describe('strict JSON', () => {
  const named = TEXTS.map(([expected, json]) => [expected, JSON.stringify(json).slice(0, 60), json] as const);

  it.each(named)('%s: %s', (expected, _name, json) => {
    expect(verdict(Buffer.from(json, 'utf8'))).toBe(expected);
    const parsed = parseStrictText(json);
    expect(parsed.ok ? ok : parsed.fault).toBe(expected);
  });

  it.each(BYTES)('%s: %s', (expected, _what, bytes) => {
    expect(verdict(Uint8Array.from(bytes))).toBe(expected);
  });

  it('has enough cases', () => {
    expect(TEXTS.length + BYTES.length).toBeGreaterThan(150);
  });

  it('refuses a lone surrogate in a text', () => {
    expect(parseStrictText('{"a":"\ud83d"}')).toEqual({ ok: false, fault: bad });
  });

  it('reads only the given part of a larger buffer', () => {
    const whole = Buffer.from('xx{"a":1}yy');
    expect(parseStrictBytes(whole.subarray(2, 9))).toEqual({ ok: true, value: { a: 1 } });
  });

  it('treats __proto__ as an ordinary key', () => {
    const parsed = parseStrictText('{"__proto__":{"polluted":true}}');
    expect(parsed.ok && Object.keys(parsed.value)).toEqual(['__proto__']);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  const raw = (json: string): unknown => {
    const parsed = parseJson(Buffer.from(json), { ...STRICT_JSON, numbers: 'raw' });
    return parsed.ok ? parsed.value : parsed.fault;
  };

  it.each(['-1', '1.5', '1e3', '-0.25e-2', '9007199254740993', '0.1000000000000000055', '1e400', '-0'])(
    'keeps %s as written if raw numbers are wanted',
    (number) => {
      expect(raw(`{"a":${number}, "b": [{"c":${number}}], "d":"${number}"}`)).toEqual({
        a: new NumberToken(number),
        b: [{ c: new NumberToken(number) }],
        d: number,
      });
    },
  );

  it.each(['01', '1.', '--1', '1e', '+1', '.5', '1-1', '1 1', '0x1'])(
    'refuses %s as a raw number',
    (number) => {
      expect(raw(`{"a":${number}}`)).toBe('invalid-json');
    },
  );

  it.each(['{1:2}', '{"a":1,2}', '[1]', '1'])('refuses %s with raw numbers too', (json) => {
    expect(raw(json)).toBe('invalid-json');
  });

  it('keeps null if the rules allow it', () => {
    const parsed = parseJson(Buffer.from('{"a":null,"b":[null]}'), { ...STRICT_JSON, nulls: 'absent' });
    expect(parsed).toEqual({ ok: true, value: { a: null, b: [null] } });
    for (const broken of ['{"a":nul}', '{"a":nulls}', '{null:1}', '{"a":null null}']) {
      expect(parseJson(Buffer.from(broken), { ...STRICT_JSON, nulls: 'absent' }).ok).toBe(false);
    }
  });

  it('counts the levels that the rules allow', () => {
    const rules = { ...STRICT_JSON, maxDepth: 3 };
    expect(parseJson(Buffer.from('{"a":[{}]}'), rules).ok).toBe(true);
    expect(parseJson(Buffer.from('{"a":[[{}]]}'), rules).ok).toBe(false);
  });

  it.each<[string, (size: number) => string]>([
    ['many elements', (size) => `{"a":[${'"x",'.repeat(size)}"\\n"]}`],
    ['many escapes', (size) => `{"a":"${'\\u0041'.repeat(size)}"}`],
    ['many names', (size) => `{${Array.from({ length: size }, (_, n) => `"k${String(n)}":0`).join(',')}}`],
    ['a long number', (size) => `{"a":${'1'.repeat(4 * size)}}`],
    ['a deep and open end', (size) => '{"a":['.repeat(32) + '0,'.repeat(size)],
    ['an open text', (size) => '"'.repeat(4 * size)],
  ])('takes time proportional to the length of the text: %s', (_, hostile) => {
    const processorTime = (json: string): number => {
      const before = process.cpuUsage();
      parseStrictText(json);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const [small, large] = [hostile(5_000), hostile(200_000)];
    processorTime(small);
    // Forty times the text; quadratic time would be 1,600 times the work.
    const least = (json: string): number => Math.min(...[1, 2, 3].map(() => processorTime(json)));
    expect(least(large)).toBeLessThan(400 * Math.max(least(small), 500));
  });
});
