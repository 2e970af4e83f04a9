import type { LinkReply } from '#libs/link/link-protocol.js';

const REMEMBERED = 10_000;
const HEARD = 200;

/**
 * A report is told again until it is answered, and one that is late must not be taken for news: of a task that has been reported
 * the first report counts, and its answer. One that could not be made durable has not been heard.
 */
export class HeardReports {
  private readonly replies = new Map<string, Promise<LinkReply>>();

  once(task_id: string, hear: () => Promise<LinkReply>): Promise<LinkReply> {
    const known = this.replies.get(task_id);
    if (known !== undefined) return known;
    const reply = hear().then((answered) => {
      if (answered.status !== HEARD) this.replies.delete(task_id);
      return answered;
    });
    this.replies.set(task_id, reply);
    const [oldest] = this.replies.keys();
    if (this.replies.size > REMEMBERED && oldest !== undefined) this.replies.delete(oldest);
    return reply;
  }
}
