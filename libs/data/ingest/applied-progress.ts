interface PendingTime {
  /** The last journal record that this time depends on. */
  readonly sequence: number;
  readonly value: number;
}

/** Times that become valid when the records before them are applied. Reports the greatest so far. */
export class AppliedProgress {
  private readonly pending: PendingTime[] = [];

  constructor(private greatest: number | null) {}

  add(sequence: number, value: number): void {
    const last = this.pending.at(-1);
    if (last?.sequence === sequence)
      this.pending[this.pending.length - 1] = { sequence, value: Math.max(last.value, value) };
    else this.pending.push({ sequence, value });
  }

  /** The greatest time, with every record up to `applied` applied. */
  at(applied: number): number | null {
    let next = this.pending[0];
    while (next !== undefined && next.sequence <= applied) {
      this.greatest = Math.max(this.greatest ?? next.value, next.value);
      this.pending.shift();
      next = this.pending[0];
    }
    return this.greatest;
  }
}
