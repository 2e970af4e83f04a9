export interface Timed {
  readonly at: number;
  /** Breaks ties: the item that was added first comes first. */
  readonly order: number;
}

/** A binary heap. */
export class EventQueue<Item extends Timed> {
  private readonly heap: Item[] = [];

  get size(): number {
    return this.heap.length;
  }

  first(): Item | undefined {
    return this.heap[0];
  }

  add(item: Item): void {
    const { heap } = this;
    let place = heap.length;
    heap.push(item);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(item, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = item;
  }

  take(): Item | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const right = heap[child + 1];
      let below = heap[child];
      if (below === undefined) break;
      if (right !== undefined && isBefore(right, below)) {
        child += 1;
        below = right;
      }
      if (!isBefore(below, last)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}

function isBefore(left: Timed, right: Timed): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order);
}
