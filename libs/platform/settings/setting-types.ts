import { z } from 'zod';

/** Parses the text of a variable. */
export type FromText<T> = z.ZodType<T, string>;

const text = z.string({ error: 'it must be set' });

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): FromText<number> {
  const message = `it must be a whole number from ${min} to ${max}`;
  return text
    .regex(/^-?\d{1,16}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message));
}

export function port(): FromText<number> {
  return integer(1, 65_535);
}

export function flag(): FromText<boolean> {
  return text.regex(/^(true|false)$/, 'it must be true or false').transform((value) => value === 'true');
}

export function oneOf<const T extends readonly [string, ...string[]]>(...values: T): FromText<T[number]> {
  return z.enum(values, { error: `it must be one of ${values.join(', ')}` });
}

export function nonEmpty(): FromText<string> {
  return text.min(1, 'it must not be empty');
}

/** Keys and tokens, long enough that they cannot be guessed. */
export function secret(minLength: number): FromText<string> {
  return text.min(minLength, `it must have at least ${minLength} characters`);
}

function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol) && new URL(value).hostname !== '';
}

export function httpUrl(): FromText<string> {
  return text.refine((value) => isUrl(value, ['http:', 'https:']), 'it must be an http or https URL');
}

/** A URL must not have options. They would replace our session options, which protect names from being shadowed. */
export function postgresUrl(): FromText<string> {
  return text
    .refine(
      (value) => isUrl(value, ['postgres:', 'postgresql:']),
      'it must be a URL like postgres://user:password@host:5432/database',
    )
    .refine(
      (value) => !URL.canParse(value) || !new URL(value).searchParams.has('options'),
      'it must not have options: the product sets the options of its sessions',
    );
}

/** At least one item, separated by commas. */
export function listOf<T>(item: FromText<T>): FromText<readonly T[]> {
  return text
    .min(1, 'it must not be empty')
    .transform((value) => value.split(',').map((part) => part.trim()))
    .pipe(z.array(item));
}

/** 256 bits as 64 hexadecimal digits. */
export function hexKey(): FromText<string> {
  return text.regex(/^[0-9a-f]{64}$/, 'it must be 64 hexadecimal digits');
}

/** The first key is for new data. The others are for data that was made with them before. */
export function hexKeys(): FromText<readonly [string, ...string[]]> {
  return listOf(hexKey()).pipe(z.tuple([z.string()], z.string()).readonly());
}

/** The bytes of the keys. */
export function keyBytes([first, ...others]: readonly [string, ...string[]]): [Buffer, ...Buffer[]] {
  return [Buffer.from(first, 'hex'), ...others.map((hex) => Buffer.from(hex, 'hex'))];
}

/** A share: 0, 1, or a decimal fraction between them. */
export function share(): FromText<number> {
  const message = 'it must be a number from 0 to 1';
  return text
    .regex(/^(?:[01]|[01]?\.\d{1,9})$/, message)
    .transform(Number)
    .pipe(z.number().max(1, message));
}

const HEADER = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*([\x21-\x2b\x2d-\x7e]*)\s*$/;

/** `name=value` pairs, separated by commas, with percent-encoded values as in OpenTelemetry. */
export function headerList(): FromText<Readonly<Record<string, string>>> {
  return text.transform((value, context) => {
    const headers: Record<string, string> = {};
    for (const pair of value.split(',')) {
      const [, name, encoded] = HEADER.exec(pair) ?? [];
      const plain = encoded === undefined ? undefined : percentDecoded(encoded);
      if (name === undefined || plain === undefined) {
        context.addIssue({ code: 'custom', message: 'it must look like name=value,name=value' });
        return z.NEVER;
      }
      headers[name.toLowerCase()] = plain;
    }
    return headers;
  });
}

/** Undefined if the decoded value is empty, or has characters that headers may not have. */
function percentDecoded(encoded: string): string | undefined {
  try {
    const plain = decodeURIComponent(encoded);
    return /^[\x20-\x7e]+$/.test(plain) ? plain : undefined;
  } catch {
    return undefined;
  }
}
