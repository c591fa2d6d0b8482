// What is not needed at once, loaded together when some of it is: each part alone would split what it shares
// with the designer into pieces of its own, which weigh more than they spare.

export { addFrom, addFromFile, download, pasteFromClipboard } from './files';
export { lineUp } from './line-up';
export { moveOut } from './move-out';
export { duplicate, paste } from './paste';
export { openCommands, openKeys, openMenu } from './sheet';
export { tracePath } from './trace';
