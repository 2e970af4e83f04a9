import { isTimeframe, LOOKBACK_SECONDS, type Timeframe } from '../../rules/candles.js';
import { integer, type TextKind } from '../text-kinds.js';

export const TIMEFRAMES = Object.keys(LOOKBACK_SECONDS).map(Number);
export const NO_TIMEFRAME = { type: 'literal_error', message: `It must be one of ${TIMEFRAMES.join(', ')}` };

const whole = integer(1);

export const timeframeText: TextKind<Timeframe> = {
  read(text) {
    const read = whole.read(text);
    if (!('value' in read)) return read;
    return isTimeframe(read.value) ? { value: read.value } : { problem: NO_TIMEFRAME };
  },
  describe: () => ({ type: 'integer', enum: TIMEFRAMES }),
};
