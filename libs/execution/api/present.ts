type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** A copy without the members that are undefined. */
export function present<T extends object>(value: T): Present<T> {
  const copy: T = { ...value };
  for (const name of Object.keys(copy)) {
    if (Reflect.get(copy, name) === undefined) Reflect.deleteProperty(copy, name);
  }
  if (!isPresent(copy)) throw new Error('a deleted member is still there');
  return copy;
}

function isPresent<T extends object>(copy: T | Present<T>): copy is Present<T> {
  return Object.values(copy).every((member) => member !== undefined);
}
