import type { BookLevel, ContractTerms, MarketDataEvent } from '#libs/data/rules/events.js';
import { decimalText } from '#libs/data/rules/scales.js';
import { isoTime } from '#libs/data/rules/times.js';

/** An event as a line of the recorded source, without its newline. */
export function recordedLine(event: MarketDataEvent): string {
  // A field without a value is left out.
  const shown: Record<string, unknown> = {
    ...event,
    ...{ received_at: undefined, source_ts: isoTime(event.source_ts) },
  };
  switch (event.type) {
    case 'MARKET': {
      for (const name of ['listed_at', 'expires_at', 'settlement_ts'] as const) {
        const time = event[name];
        if (time !== undefined) shown[name] = isoTime(time);
      }
      if (event.contract !== undefined) shown.contract = contractOf(event.contract);
      break;
    }
    case 'TRADE':
    case 'LEDGER': {
      if (event.price !== undefined) shown.price = priceOf(event.price);
      shown.size = decimalText(event.size);
      if (event.seq !== undefined) shown.seq = String(event.seq);
      if (event.type === 'LEDGER' && event.fee !== undefined) shown.fee = decimalText(event.fee);
      break;
    }
    case 'BOOK': {
      shown.sequence = String(event.sequence);
      shown.bids = event.bids.map(levelOf);
      shown.asks = event.asks.map(levelOf);
      break;
    }
    case 'RESOLUTION': {
      shown.payouts = event.payouts.map(priceOf);
      break;
    }
    case 'SCORE':
    case 'TICK': {
      const { label, content, ...rest } = event;
      return JSON.stringify({
        ...rest,
        ...content,
        ...{ provider: label, source_ts: shown.source_ts, received_at: undefined },
      });
    }
    case 'STATUS':
    case 'TRADE_BUST':
      break;
  }
  return JSON.stringify(shown);
}

function priceOf(price: number): string {
  return decimalText(BigInt(price));
}

function levelOf({ price, size }: BookLevel): [string, string] {
  return [priceOf(price), decimalText(size)];
}

function contractOf({ bands, lot_size, quote_currency, ...prices }: ContractTerms): object {
  return {
    ...Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, priceOf(price)])),
    ...(lot_size === undefined ? {} : { lot_size: decimalText(lot_size) }),
    ...(quote_currency === undefined ? {} : { quote_currency }),
    ...(bands === undefined
      ? {}
      : {
          bands: bands.map(({ start, end, step }) => ({
            ...{ start: priceOf(start), end: priceOf(end), step: priceOf(step) },
          })),
        }),
  };
}
