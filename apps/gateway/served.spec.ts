import { expect, it } from '@jest/globals';
import { servedServices } from './served.js';

function messageOf(text: string): string | undefined {
  return servedServices
    .safeParse(text)
    .error?.issues.map(({ message }) => message)
    .join('; ');
}

it('reads the services that the process carries', () => {
  expect(servedServices.parse('auction')).toEqual(['auction']);
  expect(servedServices.parse(' auction ')).toEqual(['auction']);
  expect(servedServices.parse('execution, auction')).toEqual(['execution', 'auction']);
});

it('says which services there are where another one is named', () => {
  const has = 'it has: auction, execution, data';
  expect(messageOf('auction,chain')).toBe(`this release has no service chain; ${has}`);
  expect(messageOf('auctions')).toBe(`this release has no service auctions; ${has}`);
  expect(messageOf('auction,')).toBe(`this release has no service ; ${has}`);
});

it('takes each service once', () => {
  expect(messageOf('auction,auction')).toBe('it must name each service once');
});
