import type { OrderStream } from '#libs/client/execution-stream.js';
import { socketDocument } from '#libs/execution/api/documents/socket-document.js';
import { CLIENT_OPS } from '#libs/execution/stream/client-messages.js';
import { SERVER_MESSAGES } from '#libs/execution/stream/server-messages.js';
import type { RecordedFrame } from '../interface/recorder.js';
import { StreamCheck } from '../interface/stream-check.js';

/** Checks the frames of order sockets against their document. */
export class SocketCheck {
  private readonly check = new StreamCheck(socketDocument('1.0.0'));

  /**
   * Deviations from the document. Of the client's frames only accepted ones are checked, because others may be wrong on purpose.
   */
  faults({ asked, frames, closed }: OrderStream): string[] {
    const accepted = frames.flatMap(({ type, req_id }): RecordedFrame[] => {
      const text = type === 'error' ? undefined : asked.get(req_id ?? '');
      return text === undefined ? [] : [{ direction: 'client', text }];
    });
    const serverFrames = frames.map((frame): RecordedFrame => ({
      direction: 'server',
      text: JSON.stringify(frame),
    }));
    return this.check.faults([
      ...accepted,
      ...serverFrames,
      ...(closed === undefined ? [] : [{ closed: closed.code }]),
    ]);
  }

  /** Messages of the document that no socket has shown yet. */
  get unseen(): string[] {
    return [...CLIENT_OPS, ...SERVER_MESSAGES].filter((name) => !this.check.shown.has(`message ${name}`));
  }
}
