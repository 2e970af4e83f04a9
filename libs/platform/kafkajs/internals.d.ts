declare module 'kafkajs/src/network/requestQueue/index.js' {
  class RequestQueue {
    readonly pending: readonly object[];
    scheduleCheckPendingRequests: (this: RequestQueue) => void;
  }
  export = RequestQueue;
}
