/** Which record is meant: its number in the bundle, and what it says of its place and type. */
export interface RecordName {
  readonly number: number;
  readonly position: number;
  readonly type: string;
}

/** Something in a bundle that is not as it must be. Without a record it is about what stands beside the records. */
export interface Finding {
  readonly record?: RecordName;
  readonly what: string;
}

export function about(record: RecordName, what: string): Finding {
  const { number, position, type } = record;
  return { record: { number, position, type }, what };
}
