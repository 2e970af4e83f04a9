import { bookOf, type AuctionState } from '../state.js';
import { awardOf, isDecided, isOverFor, judgedQuote, type Viewer } from './viewer.js';

const OPENED = 1;
const OPENED_AND_INVITED = 2;

/**
 * How many entries the viewer's timeline has, from the state alone: it is the `view_version` and the last `seq` at once.
 * Nothing of another maker is counted for a maker, and no quote at all for the originator.
 */
export function viewVersion(state: AuctionState, viewer: Viewer): number {
  const own =
    viewer.role === 'ORIGINATOR' ? originatorEntries(state) : makerEntries(state, viewer.account_id);
  const ending = [state.cancellation, state.closed_at].filter((reached) => reached !== undefined).length;
  return own + ending + (isOverFor(state, viewer) ? 1 : 0);
}

function originatorEntries(state: AuctionState): number {
  const execution = state.awards.reduce((sum, award) => sum + award.execution_events, 0);
  return OPENED + (isDecided(state) ? 1 : 0) + execution;
}

function makerEntries(state: AuctionState, maker: string): number {
  const quotes = bookOf(state, maker)?.quote_events ?? 0;
  const result = isDecided(state) && judgedQuote(state, maker) !== undefined ? 1 : 0;
  return OPENED_AND_INVITED + quotes + result + (awardOf(state, maker)?.execution_events ?? 0);
}
