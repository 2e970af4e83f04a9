import 'reflect-metadata';
import { httpDocument } from '#apps/gateway/documents/http-document.js';
import { streamDocument } from '#apps/gateway/documents/stream-document.js';
import { CONTROLLERS } from '#apps/gateway/gateway.module.js';
import { endpointSpecsOf } from '#libs/edge/endpoint-decorator.js';

/** The documents as a gateway serves them. */
export const specs = endpointSpecsOf(CONTROLLERS);
export const http = httpDocument(specs);
export const stream = streamDocument();
