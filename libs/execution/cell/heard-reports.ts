import type { LinkReply } from '#libs/link/link-protocol.js';

const REMEMBERED = 10_000;
const OK = 200;

/**
 * Deduplicates reports. An executor repeats a report until it is answered, and a late repeat must not count as new.
 * The first report of a task counts, and repeats get its answer. A report that did not become durable is forgotten.
 */
export class HeardReports {
  private readonly replies = new Map<string, Promise<LinkReply>>();

  once(task_id: string, handle: () => Promise<LinkReply>): Promise<LinkReply> {
    const known = this.replies.get(task_id);
    if (known !== undefined) return known;
    const reply = handle().then((answered) => {
      if (answered.status !== OK) this.replies.delete(task_id);
      return answered;
    });
    this.replies.set(task_id, reply);
    const [oldest] = this.replies.keys();
    if (this.replies.size > REMEMBERED && oldest !== undefined) this.replies.delete(oldest);
    return reply;
  }
}
