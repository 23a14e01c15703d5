"""21 stereotypes of a chat model (Bai et al. 2025), with labels and wordings as samples."""
