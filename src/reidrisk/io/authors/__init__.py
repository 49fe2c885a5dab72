"""The paper authors' formats; nothing else knows them."""
