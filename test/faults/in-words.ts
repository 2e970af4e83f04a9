export function seconds(millis: number): string {
  return `${(millis / 1_000).toFixed(1)} s`;
}
