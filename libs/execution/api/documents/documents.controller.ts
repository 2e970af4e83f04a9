import { Injectable } from '@nestjs/common';
import { documentPage } from '#libs/edge/documents/page/page.js';
import { documentReply, pageReply } from '#libs/edge/documents/served.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { API_VERSION } from '../dialect.js';
import { executionAsyncApi, executionDocs, executionOpenApi } from './document-endpoints.js';
import { executionDocument } from './http-document.js';
import { executionSpecs } from './interface.js';
import { socketDocument } from './socket-document.js';

/** Serves the interface documents of order execution. They are made once, at the start of the process. */
@Injectable()
export class ExecutionDocumentsController {
  private readonly openApiReply: Reply;
  private readonly asyncApiReply: Reply;
  private readonly pageReply: Reply;

  constructor() {
    const http = executionDocument(executionSpecs());
    const socket = socketDocument(API_VERSION);
    this.openApiReply = documentReply(http);
    this.asyncApiReply = documentReply(socket);
    this.pageReply = pageReply(documentPage(http, socket));
  }

  @Endpoint(executionOpenApi)
  openApi(): Reply {
    return this.openApiReply;
  }

  @Endpoint(executionAsyncApi)
  asyncApi(): Reply {
    return this.asyncApiReply;
  }

  @Endpoint(executionDocs)
  docs(): Reply {
    return this.pageReply;
  }
}
