import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * After the first answer on a connection kafkajs looks every millisecond, for ever, whether something waits to be sent (its issue
 * 1751). What waits, waits because the broker wanted to be left alone; nearly always nothing does, and then nobody need look.
 */
const { prototype } = RequestQueue;
const { scheduleCheckPendingRequests: schedule } = prototype;

prototype.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) schedule.call(this);
};
