"""The small judge: a sentence encoder that was fine-tuned on rated dialogues and replies."""
