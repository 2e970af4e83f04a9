import type { OrderFrame } from '#libs/client/execution-stream.js';

/** The frames of one subscription as short texts: sequence, type and main value. */
export function told(frames: readonly OrderFrame[], id = 's1'): string[] {
  return frames
    .filter((frame) => frame.subscription_id === id && frame.seq !== undefined)
    .map((frame) => `${frame.seq ?? ''} ${frame.type} ${wordOf(frame)}`);
}

function wordOf(frame: OrderFrame): string {
  if (frame.type === 'snapshot') return String((frame.orders as unknown[]).length);
  const { version } = (frame.order ?? {}) as { readonly version?: number };
  if (frame.type === 'order_update') return `${frame.reason ?? ''} v${version ?? ''}`;
  return String(frame.fill_id ?? frame.kind);
}

/** The versions of the only order, in snapshots and changes. */
export function versionsIn(frames: readonly OrderFrame[]): number[] {
  return frames.flatMap(({ order, orders }) =>
    [order, ...(Array.isArray(orders) ? (orders as unknown[]) : [])].flatMap((one) =>
      typeof one === 'object' && one !== null && 'version' in one ? [Number(one.version)] : [],
    ),
  );
}
