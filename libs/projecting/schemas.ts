/** Where the projections lie. Copies of them are written into schemas of other names through the same handlers. */
export interface Schemas {
  readonly completed: string;
  readonly execution: string;
}

export const LIVE: Schemas = { completed: 'completed', execution: 'execution' };

export function schemaNames({ completed, execution }: Schemas): readonly string[] {
  return [completed, execution];
}
