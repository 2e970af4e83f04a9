import { describeVenueFeed } from '#libs/testing/contracts/venue-feed.contract.js';
import { subjectOfB } from '#libs/testing/data/venue-feed-subjects.js';

describeVenueFeed('the feed of practice venue b', subjectOfB);
