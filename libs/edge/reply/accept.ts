interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * True if an `Accept` header prefers `wanted` to `usual`. It must name `wanted`, because wildcards stand for the usual type.
 * Unreadable parts of the header are ignored.
 */
export function prefers(accept: string | undefined, wanted: string, usual: string): boolean {
  if (accept === undefined) return false;
  const ranges = accept.split(',').flatMap(mediaRange);
  const wantedQuality = qualityOf(ranges, [wanted]);
  if (wantedQuality === undefined || wantedQuality === 0) return false;
  const usualQuality = qualityOf(ranges, [usual]);
  if (usualQuality !== undefined) return wantedQuality > usualQuality;
  return wantedQuality >= (qualityOf(ranges, [`${usual.split('/', 1).join('')}/*`, '*/*']) ?? 0);
}

/** The quality of the most specific matching range. */
function qualityOf(ranges: readonly MediaRange[], types: readonly string[]): number | undefined {
  for (const type of types) {
    const found = ranges.find((range) => range.type === type);
    if (found !== undefined) return found.quality;
  }
  return undefined;
}

function mediaRange(text: string): MediaRange[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  let quality = 1;
  for (const parameter of parameters) {
    if (!parameter.startsWith('q=')) continue;
    const value = parameter.slice(2);
    if (!QUALITY.test(value)) return [];
    quality = Number(value);
  }
  return type.includes('/') ? [{ type, quality }] : [];
}
