/** A call to an order book: place an order, or cancel one. */
export interface BookCall {
  readonly what: 'order' | 'cancel';
  readonly id: string;
  readonly isBid: boolean;
  /** In cents. */
  readonly price: number;
  readonly size: number;
  /** Buyers have even numbers, sellers odd ones. */
  readonly account: number;
}

const MIDDLE = 50;
const REACH = 20;
const MAX_SIZE = 20;
const BUYERS = 4;
/** Cancels in ten calls. */
const CANCELS = 4;

/** Always the same calls: orders around the middle, one in three trades at once, and cancels of earlier orders. */
export function bookCalls(count: number): BookCall[] {
  const roll = dice();
  const calls: BookCall[] = [];
  const placed: BookCall[] = [];
  while (calls.length < count) {
    const former = placed[placed.length - 1 - roll(Math.min(placed.length, 1_000))];
    if (roll(10) < CANCELS && former !== undefined) {
      calls.push({ ...former, what: 'cancel' });
      continue;
    }
    const isBid = roll(2) === 0;
    const away = roll(REACH) - REACH / 3;
    const price = Math.round(isBid ? MIDDLE - away : MIDDLE + away);
    const order: BookCall = {
      ...{ what: 'order', id: `order-${calls.length}`, isBid, price, size: 1 + roll(MAX_SIZE) },
      account: 2 * roll(BUYERS) + (isBid ? 0 : 1),
    };
    calls.push(order);
    placed.push(order);
  }
  return calls;
}

function dice(): (sides: number) => number {
  let state = 1;
  return (sides) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * sides);
  };
}
