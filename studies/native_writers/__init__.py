"""Lists that single native speakers wrote: is one interchangeable with another?"""
