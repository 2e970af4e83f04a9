type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the members that are undefined. */
export function present<T extends object>(value: T): Present<T> {
  const kept: Present<T> = { ...withoutUndefined(value) };
  return kept;
}

function withoutUndefined<T extends object>(value: T): Present<T> {
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) if (member !== undefined) copy[name] = member;
  return isPresent<T>(copy) ? copy : {};
}

/** It holds what is left of `T`. */
function isPresent<T extends object>(_copy: object): _copy is Present<T> {
  return true;
}
