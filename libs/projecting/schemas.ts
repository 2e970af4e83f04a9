/** Where the projections lie. Copies of them are written into schemas of other names through the same handlers. */
export interface Schemas {
  readonly completed: string;
  readonly auction_history: string;
}

export const LIVE: Schemas = { completed: 'completed', auction_history: 'auction_history' };

export function schemaNames({ completed, auction_history }: Schemas): readonly string[] {
  return [completed, auction_history];
}
