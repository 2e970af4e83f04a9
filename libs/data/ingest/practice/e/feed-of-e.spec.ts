import { describeVenueFeed } from '#libs/testing/contracts/venue-feed.contract.js';
import { subjectOfE } from '#libs/testing/data/venue-feed-subjects.js';

describeVenueFeed('the feed of practice venue e', subjectOfE);
