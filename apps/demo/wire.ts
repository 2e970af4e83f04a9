import { z } from 'zod';

/** What the play reads out of the answers; everything else in them it only shows. */
export const contractPage = z.object({
  contracts: z
    .array(
      z.object({
        venue: z.string(),
        contract_id: z.string(),
        outcome: z.string(),
        title: z.string(),
        status: z.string(),
      }),
    )
    .min(1),
});

export const openedAuction = z.object({ auction_id: z.string(), closes_at: z.string() });

export const quote = z.object({ quote_id: z.string(), revision: z.number() });

export const auction = z.object({ status: z.string(), phase: z.string() });

export const timeline = z.object({
  events: z.array(
    z.object({
      seq: z.number(),
      kind: z.string(),
      occurred_at: z.string(),
      actor: z.string(),
      data: z.record(z.string(), z.unknown()),
    }),
  ),
});

export type Timeline = z.output<typeof timeline>;
