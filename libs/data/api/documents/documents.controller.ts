import { documentPage } from '#libs/edge/documents/page/page.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { dataReply } from '../replies.js';
import { dataDocs, dataOpenApi, PAGE_HEADERS } from './document-endpoints.js';

/** Serves the description of one listener. It is made once, because it never changes while the process runs. */
export class DataDocumentsController {
  private readonly openApiReply: Reply;
  private readonly pageReply: Reply;

  constructor(document: OpenApi) {
    const { html, policy } = documentPage(document);
    this.openApiReply = dataReply(JSON.stringify(document));
    this.pageReply = dataReply(html, {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        ...PAGE_HEADERS,
      },
    });
  }

  @Endpoint(dataOpenApi)
  openApi(): Reply {
    return this.openApiReply;
  }

  @Endpoint(dataDocs)
  docs(): Reply {
    return this.pageReply;
  }
}
