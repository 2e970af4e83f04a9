interface Mark {
  /** The last record of the journal that belongs to it. */
  readonly sequence: number;
  readonly value: number;
}

/** Times that hold once the records before them are applied: the greatest so far. */
export class AppliedProgress {
  private readonly marks: Mark[] = [];

  constructor(private reached: number | null) {}

  add(sequence: number, value: number): void {
    const last = this.marks.at(-1);
    if (last?.sequence === sequence)
      this.marks[this.marks.length - 1] = { sequence, value: Math.max(last.value, value) };
    else this.marks.push({ sequence, value });
  }

  /** With everything up to this record applied. */
  at(applied: number): number | null {
    let next = this.marks[0];
    while (next !== undefined && next.sequence <= applied) {
      this.reached = Math.max(this.reached ?? next.value, next.value);
      this.marks.shift();
      next = this.marks[0];
    }
    return this.reached;
  }
}
