import '@countersign/one'; // contracts-stand-alone
