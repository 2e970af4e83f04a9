import { ArrayMaxSize, Length, Matches, Max, Min, validateSync } from 'class-validator';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';

export const INVALID_REQUEST = errorReply(400, 'invalid_request');

const DAY_MS = 86_400_000;
const MAX_AWARDS = 1_000_000;
/** At least one visible character and no unprintable ones: names must tell groups apart in a list. */
const VISIBLE = /^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]+$/u;

/** Ranges of integers that the gateway has already parsed. The parser checks types; these classes check ranges. */
export class ProtectionRules {
  @Min(1)
  @Max(DAY_MS)
  readonly window_ms: number;

  @Min(1)
  @Max(MAX_AWARDS)
  readonly max_awards: number;

  @Min(1)
  readonly max_award_notional_atoms: number;

  @Min(1)
  @Max(DAY_MS)
  readonly frozen_ms: number;

  constructor(settings: Readonly<Record<keyof ProtectionRules, number>>) {
    this.window_ms = settings.window_ms;
    this.max_awards = settings.max_awards;
    this.max_award_notional_atoms = settings.max_award_notional_atoms;
    this.frozen_ms = settings.frozen_ms;
  }
}

export class GroupRules {
  @Length(1, 64)
  @Matches(VISIBLE)
  readonly name: string;

  @ArrayMaxSize(256)
  readonly market_maker_ids: readonly string[];

  constructor(group: { readonly name: string; readonly market_maker_ids: readonly string[] }) {
    this.name = group.name;
    this.market_maker_ids = group.market_maker_ids;
  }
}

/** The refusal if a value is out of range. */
export function refusalOf(rules: ProtectionRules | GroupRules): Reply | undefined {
  return validateSync(rules).length === 0 ? undefined : INVALID_REQUEST;
}
