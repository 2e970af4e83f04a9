const NEEDS_QUOTING = /["\\]/;

/**
 * A text array as the server reads it. The client library would look at every element on its own; here that is only done
 * where one of them needs it.
 */
export function textArray(values: readonly string[]): string {
  if (values.length === 0) return '{}';
  const joined = values.join('","');
  if (!NEEDS_QUOTING.test(values.join(''))) return `{"${joined}"}`;
  return `{"${values.map((value) => value.replace(/["\\]/g, '\\$&')).join('","')}"}`;
}

export function integerArray(values: readonly number[]): string {
  return `{${values.join(',')}}`;
}
