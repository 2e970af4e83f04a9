/** A promise was broken; `check` names it. */
export class Violation extends Error {
  override readonly name = 'Violation';

  constructor(
    readonly check: string,
    what: string,
  ) {
    super(`${check}: ${what}`);
  }
}

export function must(holds: boolean, check: string, what: () => string): asserts holds {
  if (!holds) throw new Violation(check, what());
}
